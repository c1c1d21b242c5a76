import { readFileSync, writeFileSync } from 'node:fs'
import { withConformance } from '../test/compatibility/page.ts'

// The rest of that page is measured, by `npm run compatibility`.
const page = new URL('../docs/compatibility.md', import.meta.url)
writeFileSync(page, withConformance(readFileSync(page, 'utf8')))
