import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Judgement } from '../../verifier/index.ts'
import type { Context } from '../context.ts'
import { type Exit, exitOfJudgement } from '../exits.ts'
import type { Io } from '../io.ts'
import { fieldLines } from '../render/table.ts'

export interface VerifyOptions {
  readonly key?: string
  readonly anchors?: string
}

export async function verify(context: Context, options: VerifyOptions, file: string | undefined): Promise<Exit> {
  const { io } = context
  const judgement = file === undefined ? await judgeLive(context) : await judgeExport(file, options)
  if (io.json) io.outJson(judgement)
  else for (const line of judgementLines(judgement, options.key !== undefined, io)) io.out(line)
  return exitOfJudgement(judgement)
}

/** By the gateway itself while it writes, so that nothing is written between two looks; from the files alone otherwise. */
export async function judgeLive(context: Context): Promise<Judgement> {
  const home = context.home()
  const { ownerOf } = await import('../../gateway/ownership.ts')
  if (ownerOf(home) !== undefined) {
    const { client } = await context.attach({ start: false })
    return client.verifyEvidence()
  }
  const { verifyLedger } = await import('../../store/sqlite/verify.ts')
  return verifyLedger(home)
}

async function judgeExport(file: string, { key, anchors }: VerifyOptions): Promise<Judgement> {
  const { verifyExport } = await import('../../verifier/index.ts')
  return verifyExport(resolve(file), {
    ...(key === undefined ? {} : { key: await readFile(key, 'utf8') }),
    ...(anchors === undefined ? {} : { anchors: resolve(anchors) }),
  })
}

function judgementLines(
  { verdict, records, firstBad, why, key, payloads, erased }: Judgement,
  trusted: boolean,
  io: Pick<Io, 'paint'>,
): string[] {
  const color = verdict === 'valid' ? 'green' : verdict === 'incomplete' ? 'yellow' : 'red'
  const fields = {
    records,
    'first that does not fit': firstBad,
    why: why.join('; '),
    'payloads opened': payloads,
    'payloads erased': erased,
    key:
      key === undefined
        ? undefined
        : trusted
          ? `${key} (you named it, or it follows from the one that you named)`
          : `${key} (compare it with what you know, or name a --key)`,
  }
  return [io.paint(color, verdict), ...fieldLines(fields, io)]
}
