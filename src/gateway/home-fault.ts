/** The home cannot be used as it is. Nothing was changed. */
export class HomeFault extends Error {
  readonly code: 'HOME_UNSAFE' | 'HOME_BUSY' | 'HOME_UNREACHABLE' | 'HOME_MISSING'
  readonly hint: string
  constructor(code: HomeFault['code'], message: string, hint: string) {
    super(message)
    this.name = 'HomeFault'
    this.code = code
    this.hint = hint
  }
}
