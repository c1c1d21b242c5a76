/** A client that an authorization server made for us, or that we have there in another way. */
export interface KeptClient {
  readonly id: string
  readonly secret?: string
  readonly authMethod?: string
  readonly redirectUri?: string
}

export interface KeptTokens {
  /** Of the authorization server that gave them; nothing of them goes to another. */
  readonly issuer: string
  readonly clientId: string
  readonly resource: string
  readonly access: string
  readonly refresh?: string
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** What was granted, or asked for where the answer did not say. */
  readonly scopes: readonly string[]
}

/** All that is kept of one principal for one upstream. */
export interface Kept {
  readonly tokens?: KeptTokens
  /** By issuer. */
  readonly clients: Readonly<Record<string, KeptClient>>
  /** The issuer that a client registered by hand was first used at. */
  readonly boundTo?: string
}

export const nothingKept: Kept = Object.freeze({ clients: Object.freeze({}) })

/** Where it is kept. Both are quick, and written before what is written is used. */
export interface Vault {
  read(): Kept
  write(kept: Kept): void
}

/** For as long as this process lives. */
export function memoryVault(): Vault {
  let held = nothingKept
  return { read: () => held, write: (kept) => void (held = kept) }
}
