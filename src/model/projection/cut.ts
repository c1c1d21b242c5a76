/** Text cut to a number of bytes of UTF-8: three quarters from its beginning, a quarter from its end, and a notice between. */
export function cutText(text: string, limit: number): string {
  const whole = Buffer.from(text.toWellFormed(), 'utf8')
  if (whole.length <= limit) return whole.toString('utf8')
  // The notice has room for any size that a result can have.
  const room = Math.max(0, limit - notice(whole.length).length)
  const head = startOfCharacter(whole, Math.floor(room * 0.75))
  const tail = startOfCharacter(whole, whole.length - Math.floor(room * 0.25), 1)
  return `${whole.toString('utf8', 0, head)}${notice(tail - head)}${whole.toString('utf8', tail)}`
}

function notice(bytes: number): string {
  return `\n[... ${bytes} bytes left out ...]\n`
}

// A byte of the form 10xxxxxx is inside a character (RFC 3629 §3).
function startOfCharacter(bytes: Buffer, from: number, step: 1 | -1 = -1): number {
  let at = Math.min(Math.max(from, 0), bytes.length)
  while (at > 0 && at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at += step
  return at
}
