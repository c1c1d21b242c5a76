import { z } from 'zod'
import { secretProblem, isSecretReference } from '../identity/secrets/reference.ts'
import { text } from './fields.ts'

export const noticeKinds = ['approval', 'drift', 'unknown', 'budget'] as const

const on = z
  .array(z.enum(noticeKinds))
  .min(1)
  .default([...noticeKinds])
  .describe('Of what: a question that waits, a tool that changed, an outcome that nobody knows, a budget near its end.')

export const notifySchema = z
  .array(
    z.discriminatedUnion('to', [
      z.strictObject({ to: z.literal('desktop').describe('By notify-send.'), on }),
      z.strictObject({
        to: z.literal('webhook'),
        url: z.url({ protocol: /^https?$/, error: 'expected an https:// URL, or an http:// one of this machine' }),
        headers: z
          .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected the name of a header'), z.string())
          .default({})
          .superRefine((headers, context) => {
            for (const [name, value] of Object.entries(headers)) {
              const message = isSecretReference(value) ? secretProblem(value) : undefined
              if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message })
            }
          })
          .describe('Kept as secrets.'),
        on,
      }),
      z.strictObject({
        to: z.literal('command'),
        command: z
          .array(text('One word.'))
          .min(1)
          .max(64)
          .describe('Program and arguments; it gets the notice as JSON on stdin.'),
        on,
      }),
    ]),
  )
  .max(16)
  .default([])
  .describe('Who is told when something waits for a person.')

export type NotifyText = z.output<typeof notifySchema>[number]
