import { canonical } from '../../words/canonical.ts'
import { digest } from '../../words/digest.ts'
import type { Scoped } from '../resource/scoped.ts'
import { visible } from '../tool/visible.ts'
import type { Binding, ConsentRule, Earlier, Question } from './consented.ts'

const SHOWN_CHARACTERS = 4000

/** What a yes will be bound to: equal for the same call under another call id, different for anything else. */
export function questionOf(scoped: Scoped, rule: ConsentRule, earlier: Earlier | undefined): Question {
  const { tool, principal, proposal } = scoped
  const binding: Binding = {
    tenant: principal.tenant,
    principal: principal.id,
    tool: tool.key,
    pin: tool.pin,
    argumentsDigest: proposal.digest,
    scopesDigest: scoped.scopesDigest,
    risk: tool.profile.risk,
    policyVersion: scoped.policyVersion,
    ...(proposal.origin.reverses === undefined ? {} : { reverses: proposal.origin.reverses }),
    ...(earlier === undefined ? {} : { repeatOf: earlier.operation }),
  }
  return {
    binding,
    bindingDigest: digest(canonical({ ...binding })),
    rule,
    text: textOf(scoped, earlier),
    callId: proposal.origin.callId,
  }
}

/**
 * Made of what will run: the operator's words for it, the canonical arguments, the resolved scopes. No description of the
 * server's and no word of the model's is in it, so neither can talk the reader into a yes.
 */
function textOf(scoped: Scoped, earlier: Earlier | undefined): string {
  const { tool, principal, proposal } = scoped
  const lines = [
    `${principal.id} (${principal.tenant}) asks to run ${tool.key}`,
    `effect: ${tool.profile.effect}${tool.profile.declared ? '' : ' (nothing declared, so the most cautious)'}; risk: ${tool.profile.risk}`,
    ...scoped.scopes.map(({ kind, access, value }) => `${access} ${kind}: ${visible(value)}`),
    ...(scoped.taint?.tainted === true
      ? [`it uses what a tool's result named: ${scoped.taint.values.map(visible).join(', ')}`]
      : []),
    ...(scoped.taint?.suspect === true
      ? ['a result that this caller was given before reads like orders to a model']
      : []),
    `arguments: ${shortened(visible(proposal.canonical))}`,
    `arguments digest: ${proposal.digest.slice(0, 16)}; definition: ${tool.pin.slice(0, 16)}`,
  ]
  if (proposal.origin.reverses !== undefined) lines.push(`It undoes ${proposal.origin.reverses}.`)
  if (earlier !== undefined)
    lines.push(
      earlier.state === 'unknown'
        ? `The same call was answered with an error before (${earlier.operation}); whether it had an effect is not known.`
        : `The same call ran before (${earlier.operation}, ${earlier.state}). A yes makes it happen again.`,
    )
  return lines.join('\n')
}

function shortened(text: string): string {
  if (text.length <= SHOWN_CHARACTERS) return text
  return `${text.slice(0, SHOWN_CHARACTERS)} … (${text.length - SHOWN_CHARACTERS} more characters; the whole is with the approval)`
}
