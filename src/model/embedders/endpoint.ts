import type { Embedder } from '../../mcp/catalogue/search/embedder.ts'
import { type Json, isJsonObject, member } from '../../words/json.ts'
import type { Secret } from '../../words/secret.ts'

export interface EmbeddingEndpoint {
  /** Of the API, e.g. `http://127.0.0.1:11434/v1`; requests go to `/embeddings` below it. */
  readonly url: string
  readonly model: string
  readonly key?: Secret | undefined
}

/** Bytes of one answer: 32 vectors of 4,096 numbers as text. */
const LARGEST = 8 << 20

/**
 * Vectors from anything that speaks OpenAI's `POST /embeddings`: OpenAI itself, Ollama, llama.cpp, vLLM, or a server in front
 * of a local ONNX file. Rejects where the answer is not one vector for each text.
 */
export function endpointEmbedder({ url, model, key }: EmbeddingEndpoint): Embedder {
  const target = `${url.replace(/\/+$/, '')}/embeddings`
  return {
    id: `${target} ${model}`,
    embed: async (texts, signal) => {
      const response = await fetch(target, {
        method: 'POST',
        // A redirect would take the key, and the texts of tools, somewhere that nobody named.
        redirect: 'error',
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { authorization: `Bearer ${key.reveal()}` }),
        },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
        signal,
      })
      if (!response.ok) {
        await response.body?.cancel()
        throw new Error(`the embedding endpoint answered with status ${response.status}`)
      }
      return vectorsOf(JSON.parse(await bounded(response)) as Json, texts.length)
    },
  }
}

async function bounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    const piece = part as Uint8Array
    bytes += piece.byteLength
    if (bytes > LARGEST) throw new Error(`the embedding endpoint answered with more than ${LARGEST} bytes`)
    parts.push(piece)
  }
  return Buffer.concat(parts).toString('utf8')
}

function vectorsOf(answer: Json, wanted: number): Float32Array[] {
  const rows = isJsonObject(answer) ? member(answer, 'data') : undefined
  if (!Array.isArray(rows) || rows.length !== wanted)
    throw new Error('the embedding endpoint gave another number of vectors')
  const vectors: Float32Array[] = []
  for (const [n, row] of (rows as readonly Json[]).entries()) {
    const vector = isJsonObject(row) ? member(row, 'embedding') : undefined
    const at = isJsonObject(row) ? (member(row, 'index') ?? n) : n
    const numbers = Array.isArray(vector) && vector.length > 0 && vector.every((value) => typeof value === 'number')
    if (!numbers || typeof at !== 'number' || at < 0 || at >= wanted)
      throw new Error('the embedding endpoint gave something else than vectors')
    vectors[at] = Float32Array.from(vector as readonly number[])
  }
  if (vectors.filter(() => true).length !== wanted) throw new Error('the embedding endpoint left a text out')
  return vectors
}
