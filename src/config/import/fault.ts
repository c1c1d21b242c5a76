/** A client's file, or ours, cannot be changed the way that was asked for. Nothing was written. */
export class ImportFault extends Error {
  readonly code: 'CLIENT_FILE' | 'CLIENT_CONNECTED' | 'CLIENT_NOT_CONNECTED' | 'CLIENT_CHANGED' | 'PREVIEW_STALE'
  readonly hint: string | undefined

  constructor(code: ImportFault['code'], message: string, hint?: string) {
    super(message)
    this.name = 'ImportFault'
    this.code = code
    this.hint = hint
  }
}
