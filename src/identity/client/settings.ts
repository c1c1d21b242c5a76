import type { Secret } from '../../words/secret.ts'

/** A client that somebody registered by hand. Its credentials are sent to one issuer: the one of the settings, or the first that was met. */
export interface RegisteredByHand {
  readonly id: string
  readonly secret?: Secret
  /** PKCS #8 in PEM, for `private_key_jwt`. */
  readonly key?: { readonly pem: Secret; readonly algorithm: string }
}

/** What the operator allows us to do to get a token for one upstream. */
export interface ClientSettings {
  readonly grant: 'authorization_code' | 'client_credentials' | 'jwt_bearer'
  /** The only authorization server that is taken. Undefined: the one that the server names. */
  readonly issuer?: string
  readonly client?: RegisteredByHand
  /** URL of a client-id metadata document, which is the client's id where the authorization server knows of such. */
  readonly metadataUrl?: string
  /** May we register ourselves? Deprecated since 2026-07-28, and an unknown server's database. */
  readonly dynamicRegistration: boolean
  /** Nothing beyond these is asked for. */
  readonly scopes?: readonly string[]
  /** The `resource` that the server has to name, where it is not its URL. */
  readonly resource?: string
  /** For `jwt_bearer` (RFC 7523 §2.1): the assertion of the moment, such as the token of a workload. */
  readonly assertion?: () => Promise<Secret>
}

export const defaultSettings: ClientSettings = Object.freeze({
  grant: 'authorization_code',
  dynamicRegistration: false,
})
