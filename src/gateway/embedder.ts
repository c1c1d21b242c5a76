import type { EmbedderConfig } from '../config/config.ts'
import type { Embedder } from '../mcp/catalogue/search/embedder.ts'
import { endpointEmbedder } from '../model/embedders/endpoint.ts'
import { packagedEmbedder } from '../model/embedders/package.ts'

/** The embedder that the configuration names; none where it names none. */
export function embedderOf(config: EmbedderConfig | undefined): Embedder | undefined {
  switch (config?.kind) {
    case 'endpoint':
      return endpointEmbedder(config)
    case 'packaged':
      return packagedEmbedder()
    case undefined:
      return undefined
    default:
      return config satisfies never
  }
}
