// Forms that their makers publish, so that they are found: https://docs.github.com, https://api.slack.com, https://docs.aws.amazon.com
const forms = [
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}/,
  /\bgithub_pat_\w{22,}/,
  /\bglpat-[\w-]{20,}/,
  /\bsk-[A-Za-z0-9_-]{20,}/,
  /\bxox[abeoprs]-[\w-]{10,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bAIza[\w-]{35}/,
  /\bnpm_[A-Za-z0-9]{36}/,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /:\/\/[^/\s:@]*:[^/\s@]+@/,
]

/** Is a secret of a well-known form, or a password in a URL, in the text? No proof that none is. */
export function looksSecret(text: string): boolean {
  return forms.some((form) => form.test(text))
}
