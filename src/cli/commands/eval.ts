import type { Declare } from '../program.ts'
import { exits } from '../exits.ts'

interface DiscoveryOptions {
  readonly tools: string
  readonly queries?: string
  readonly none?: string
  readonly servers?: string
  readonly examples?: string
  readonly tokens?: boolean
}

const labels =
  'label: `benign` or anything else for an attack; technique, plain_request and hard_negative where they are known.'

const attacks = {
  poisoning: `does the scan report poisoned definitions, and leave the others alone?\n\nA line: {label, tool, peers?, …}. ${labels}`,
  injection: `are results with orders in them reported, and others not?\n\nA line: {label, result, …}. ${labels}`,
  drift: `is a changed definition stopped, and of what kind are changes?\n\nA line: {label, before, after, …}. ${labels}`,
} as const

export const declare: Declare = (program, act) => {
  const evaluate = program
    .command('eval')
    .description(
      'Measure a part of the product on your own data, or on a published set.\n\n' +
        'Examples:\n' +
        '  countersign eval discovery --tools tools.jsonl --queries queries.jsonl\n' +
        '  countersign eval discovery --tools tools.jsonl --tokens\n' +
        '  countersign eval poisoning --cases definitions.jsonl\n' +
        '  countersign eval injection --cases results.jsonl\n' +
        '  countersign eval drift --cases changes.jsonl',
    )
  evaluate
    .command('discovery')
    .description(
      'does the right tool come back, how fast, and does search keep quiet where none is needed?\n\n' +
        'tools.jsonl: {server, name, description, inputSchema} a line; queries.jsonl: {id, query, gold: [{server, name}], mode, source}.\n' +
        'mode `any` (one of gold), `all` (one of each of `groups`) or `none` (nothing should be called).',
    )
    .requiredOption('--tools <file>', 'the catalogue')
    .option('--queries <file>', 'requests with the tools that answer them')
    .option('--none <file>', 'requests that need no tool, for the report on abstention')
    .option('--servers <file>', 'titles and descriptions of the servers (default: servers.jsonl beside the tools)')
    .option('--examples <file>', 'example requests, {server, name, requests: […]} a line')
    .option('--tokens', 'count what the catalogue costs a model, whole and searched')
    .action(
      act(async (context, options: DiscoveryOptions) => {
        const { evalDiscovery } = await import('../eval/discovery.ts')
        await evalDiscovery(options, context.io)
        return exits.done
      }),
    )
  for (const [kind, about] of Object.entries(attacks)) {
    evaluate
      .command(kind)
      .description(about)
      .requiredOption('--cases <file>', 'labelled cases, one JSON object a line')
      .action(
        act(async (context, { cases }: { cases: string }) => {
          const { evalAttacks } = await import('../eval/attacks.ts')
          evalAttacks(kind as keyof typeof attacks, cases, context.io)
          return exits.done
        }),
      )
  }
  return evaluate
}
