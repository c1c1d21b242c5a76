import type { SchemaJson } from '@cedar-policy/cedar-wasm/nodejs'
import type { Access } from '../tool/profile.ts'

/** The accesses that a scope may want; each is an action of the policies. */
export const accesses = ['read', 'list', 'write', 'delete', 'execute'] as const satisfies readonly Access[]

/**
 * `see`: know of it at all · `call`: call it, whatever it touches · an access: touch one scope in that way · `ask`: be asked
 * something by its server while it runs.
 */
export type PolicyAction = 'see' | 'call' | 'ask' | Access

type Shape = SchemaJson<string>[string]['actions'][string]
type Attributes = Record<
  string,
  { type: 'String' } | { type: 'Boolean' } | { type: 'Set'; element: { type: 'String' } }
>

const TEXT = { type: 'String' } as const
const FLAG = { type: 'Boolean' } as const

const taint = { tainted: FLAG, untrusted: FLAG, suspect: FLAG }
const asker = record({ id: TEXT, kind: TEXT, tenant: TEXT, scopes: { type: 'Set', element: TEXT } })
const scope = record({
  kind: TEXT,
  value: TEXT,
  within: { type: 'Set', element: TEXT },
  hardLinked: FLAG,
})

/**
 * What policies may speak of. Cedar checks the policies against it when they are loaded, so that a misspelt attribute is
 * found there, and every request against it before the policies see it. No attribute is optional: a `forbid` that reads
 * one which is missing would be skipped.
 */
export const cedarSchema: SchemaJson<string> = {
  '': {
    entityTypes: {
      Tenant: {},
      Group: {},
      Server: {},
      User: { memberOfTypes: ['Tenant', 'Group'], shape: asker },
      Service: { memberOfTypes: ['Tenant', 'Group'], shape: asker },
      Tool: {
        memberOfTypes: ['Server'],
        shape: record({ server: TEXT, name: TEXT, kind: TEXT, effect: TEXT, risk: TEXT, declared: FLAG }),
      },
    },
    actions: {
      see: actionWith(record({})),
      call: actionWith(record({ door: TEXT, ...taint })),
      ask: actionWith(record({ door: TEXT, kind: TEXT, mode: TEXT })),
      ...Object.fromEntries(
        accesses.map((access) => [access, actionWith({ type: 'Record', attributes: { door: TEXT, ...taint, scope } })]),
      ),
    },
  },
}

function record(attributes: Attributes): { type: 'Record'; attributes: Attributes } {
  return { type: 'Record', attributes }
}

function actionWith(context: NonNullable<NonNullable<Shape['appliesTo']>['context']>): Shape {
  return { appliesTo: { principalTypes: ['User', 'Service'], resourceTypes: ['Tool'], context } }
}
