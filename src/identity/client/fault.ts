/** What keeps us from getting a token. The messages hold no text of the other side, which may be a stranger's. */
export type AuthFaultCode =
  /** A person has to log in. */
  | 'LOGIN_NEEDED'
  /** The server's or the authorization server's documents cannot be used. */
  | 'METADATA_REFUSED'
  /** Nothing in the configuration lets us be a client there. */
  | 'NO_CLIENT'
  /** The answer of the authorization server is not the one to our question. */
  | 'RESPONSE_REFUSED'
  /** The authorization server said no. */
  | 'DENIED'
  /** It cannot be reached now; later it may. */
  | 'UNREACHABLE'

export class AuthFault extends Error {
  override readonly name = 'AuthFault'
  readonly code: AuthFaultCode

  constructor(code: AuthFaultCode, message: string) {
    super(message)
    this.code = code
  }
}
