import { z } from 'zod'
import type { Secret } from '../words/secret.ts'
import { text } from './fields.ts'

const httpsUrl = (says: string) =>
  z
    .url({ protocol: /^https?$/, error: 'expected an https:// URL' })
    .exactOptional()
    .describe(says)

/** `servers.NAME.auth`: how we get a token for a server that wants one. */
export const authSchema = z
  .strictObject({
    grant: z
      .enum(['authorization_code', 'client_credentials', 'jwt_bearer'])
      .default('authorization_code')
      .describe('authorization_code: a person logs in once, with `countersign server login NAME`.'),
    issuer: httpsUrl('The authorization server; no other is taken. Default: the one that the server names.'),
    clientId: text('Id of a client that was registered by hand; goes with `issuer`.', 1024).exactOptional(),
    clientSecret: text('Its secret, from ${VAR}.', 4096).exactOptional(),
    clientKey: text('File with its private key (PKCS #8, PEM), relative to this file.').exactOptional(),
    clientKeyAlgorithm: z
      .enum(['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA'])
      .default('ES256')
      .describe('What that key signs with.'),
    clientMetadataUrl: httpsUrl('Client-id metadata document that says who we are.'),
    registration: z
      .enum(['never', 'dynamic'])
      .default('never')
      .describe('dynamic: we may register ourselves where there is no other way.'),
    scopes: z.array(text('One scope.', 256)).max(100).exactOptional().describe('Nothing beyond these is asked for.'),
    resource: httpsUrl('What the server has to name as its resource, where that is not its URL.'),
    assertionFile: text(
      'For jwt_bearer: file with the assertion, read each time; relative to this file.',
    ).exactOptional(),
    hosts: z
      .array(z.string().regex(/^[a-z0-9.-]+(:\d{1,5})?$/, 'expected a host, or host:port, in lower case'))
      .max(32)
      .default([])
      .describe('Hosts of authorization servers that may have a private address or another port.'),
  })
  .superRefine((auth, context) => {
    const stray = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message })
    if (auth.clientId === undefined) {
      for (const key of ['clientSecret', 'clientKey'] as const)
        if (auth[key] !== undefined) stray(key, `\`${key}\` goes with \`clientId\``)
      if (auth.grant === 'client_credentials') stray('grant', '`client_credentials` goes with `clientId`')
    } else if (auth.clientSecret !== undefined && auth.clientKey !== undefined)
      stray('clientKey', 'a client has `clientSecret` or `clientKey`, not both')
    if (auth.clientMetadataUrl !== undefined && new URL(auth.clientMetadataUrl).pathname === '/')
      stray('clientMetadataUrl', 'expected a URL with a path')
    if ((auth.grant === 'jwt_bearer') !== (auth.assertionFile !== undefined))
      stray('assertionFile', '`assertionFile` and the grant `jwt_bearer` go together')
  })
  .describe('How to get a token for a remote server, by OAuth.')

export type AuthText = z.output<typeof authSchema>

/** How a token for a server is got; files are read when they are needed. */
export interface AuthConfig {
  readonly grant: AuthText['grant']
  readonly issuer?: string
  readonly clientMetadataUrl?: string
  readonly dynamicRegistration: boolean
  readonly scopes?: readonly string[]
  readonly resource?: string
  readonly hosts: readonly string[]
  readonly client?: {
    readonly id: string
    readonly secret?: Secret
    readonly key?: { readonly path: string; readonly algorithm: string }
  }
  readonly assertionFile?: string
}
