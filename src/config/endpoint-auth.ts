import { z } from 'zod'
import type { IssuerRules } from '../identity/resource-server/rules.ts'
import { Secret } from '../words/secret.ts'
import { duration, text } from './fields.ts'

const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, 'expected one scope')

const issuerSchema = z
  .strictObject({
    issuer: z.url({ protocol: /^https?$/, error: 'expected the URL of an issuer' }).describe('To the letter.'),
    tenant: text('Tenant of all who come from there.', 256).exactOptional(),
    tenantClaim: text('Claim that names the tenant.', 128).exactOptional(),
    groupsClaim: text('Claim that lists the groups.', 128).exactOptional(),
    algorithms: z
      .array(z.enum(['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA']))
      .min(1)
      .default(['ES256', 'RS256'])
      .describe('Of signatures.'),
    types: z.array(text('A `typ`, in lower case.', 64)).min(1).default(['at+jwt']).describe('Of JWTs.'),
    clockSkew: duration('How far its clock may be from ours.').prefault('30s'),
    introspection: z
      .strictObject({
        clientId: text('Our client there.', 1024),
        clientSecret: text('Its secret, from ${VAR}.', 4096),
      })
      .exactOptional()
      .describe('For tokens that are no JWT. Without it they are refused.'),
    hosts: z
      .array(z.string().regex(/^[a-z0-9.-]+(:\d{1,5})?$/, 'expected a host, or host:port, in lower case'))
      .max(32)
      .default([])
      .describe('Hosts of the issuer that may have a private address or another port.'),
  })
  .superRefine((it, context) => {
    if ((it.tenant === undefined) === (it.tenantClaim === undefined))
      context.addIssue({
        code: 'custom',
        path: ['tenant'],
        message: 'expected `tenant` or `tenantClaim`, one of the two',
      })
  })

/** `endpoint.auth`: access tokens of authorization servers, beside the tokens of `principals`. */
export const endpointAuthSchema = z
  .strictObject({
    resource: z
      .url({ protocol: /^https?$/, error: 'expected our own URL, such as https://tools.example.com/mcp' })
      .describe('Our own URL as clients know it; what tokens have to be for.'),
    issuers: z.array(issuerSchema).min(1).max(16).describe('Whose tokens are taken.'),
    required: z.array(scope).max(64).default([]).describe('Scopes without which a token opens nothing.'),
    tools: z
      .record(text('Exported name of a tool; `*` at its end stands for any rest.', 256), z.array(scope).min(1).max(64))
      .default({})
      .describe('Scopes that calls of these tools need besides.'),
  })
  .describe('Access tokens of authorization servers that are taken here.')

type EndpointAuthText = z.output<typeof endpointAuthSchema>

export interface EndpointAuth {
  readonly resource: string
  readonly required: readonly string[]
  readonly tools: readonly { readonly name: string; readonly scopes: readonly string[] }[]
  readonly issuers: readonly { readonly rules: IssuerRules; readonly hosts: readonly string[] }[]
}

export function endpointAuthOf({ resource, issuers, required, tools }: EndpointAuthText): EndpointAuth {
  return {
    resource,
    required,
    tools: Object.entries(tools).map(([name, scopes]) => ({ name, scopes })),
    issuers: issuers.map(({ hosts, clockSkew, introspection, tenant, ...rest }) => ({
      hosts,
      rules: {
        ...rest,
        resource,
        tenant: tenant ?? '',
        clockSkewMs: clockSkew,
        ...(introspection !== undefined && {
          introspection: { ...introspection, clientSecret: new Secret(introspection.clientSecret) },
        }),
      },
    })),
  }
}
