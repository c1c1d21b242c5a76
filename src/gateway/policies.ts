import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PolicyReport } from '../api/contract.ts'
import { checkPolicies, type PolicyText } from '../flow/resource/policy-set.ts'

/** Every `*.cedar` file of the folder, in the order of their names. A folder that is missing holds no policy: all is denied. */
export function readPolicies(folder: string): readonly PolicyText[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.cedar'))
    .toSorted()
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
}

/** What `policy check` says of the folder as it lies there now. */
export function policyReport(folder: string): PolicyReport {
  const texts = readPolicies(folder)
  const checked = checkPolicies(texts)
  if (checked.ok) {
    const problems = checked.warnings.map((message) => ({ severity: 'warning' as const, message }))
    return { ok: true, version: checked.version, policies: checked.policies, problems }
  }
  const problems = checked.messages.map((message) => ({ severity: 'error' as const, message }))
  return { ok: false, version: '', policies: 0, problems }
}
