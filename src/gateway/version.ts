import { readFileSync } from 'node:fs'

// Read and not imported: the manifest lies outside of what is compiled.
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }

export const version: string = manifest.version
