import { open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ExportRequest } from '../../api/contract.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import { momentOf } from './moment.ts'

export interface ExportOptions {
  readonly tenant?: string
  readonly principal?: string
  readonly tool?: string
  readonly operation?: string
  readonly kind?: string
  readonly since?: string
  readonly until?: string
  readonly payloads?: boolean
}

export async function exportTo(context: Context, options: ExportOptions, file: string | undefined): Promise<Exit> {
  const { io, signal } = context
  const { client } = await context.attach()
  const stream = await client.exportEvidence(requestOf(options), signal)
  if (file === undefined) {
    for await (const part of stream as AsyncIterable<Buffer>) io.write(part)
    return exits.done
  }
  const path = resolve(file)
  const partial = `${path}.partial`
  // An export that broke off must not look like one, and one that is there is not written over.
  const target = await open(path, 'wx', 0o600)
  await target.close()
  try {
    const written = await open(partial, 'w', 0o600)
    try {
      for await (const part of stream as AsyncIterable<Buffer>) await written.writeFile(part)
      await written.sync()
    } finally {
      await written.close()
    }
    await rename(partial, path)
  } catch (fault) {
    await rm(partial, { force: true })
    await rm(path, { force: true })
    throw fault
  }
  if (io.json) io.outJson({ file: path })
  else io.out(path)
  return exits.done
}

function requestOf({ since, until, payloads, ...same }: ExportOptions): Partial<ExportRequest> {
  return {
    ...same,
    ...(since === undefined ? {} : { since: momentOf('--since', since) }),
    ...(until === undefined ? {} : { until: momentOf('--until', until) }),
    ...(payloads === true ? { payloads: 'yes' } : {}),
  }
}
