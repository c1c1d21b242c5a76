export type SafeFetchCode =
  | 'URL_REFUSED'
  | 'ADDRESS_REFUSED'
  | 'REDIRECT_REFUSED'
  | 'UNREACHABLE'
  | 'TOO_LARGE'
  | 'TOO_SLOW'
  | 'CONTENT_REFUSED'

/** Nothing was fetched, or what came was thrown away. The message names the host and never what came from it. */
export class SafeFetchFault extends Error {
  override readonly name = 'SafeFetchFault'
  readonly code: SafeFetchCode

  constructor(code: SafeFetchCode, message: string) {
    super(message)
    this.code = code
  }
}
