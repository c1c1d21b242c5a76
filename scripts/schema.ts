// Writes schema/countersign.schema.json from the schema that the gateway itself checks the file with.
import { mkdirSync, writeFileSync } from 'node:fs'
import { configJsonSchema } from '../src/config/schema.ts'

const folder = new URL('../schema/', import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL('countersign.schema.json', folder), `${JSON.stringify(configJsonSchema(), null, 2)}\n`)
