const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/
const UUID = /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/
const URI = /^[a-z][a-z0-9+.-]*:[^\s\\<>"{}|^`]*$/i
const EMAIL = /^[^\s@]{1,256}@[^\s@]{1,253}$/

/**
 * The formats that are checked, loosely and in linear time; all others say nothing (JSON Schema 2020-12 §7 makes formats
 * annotations unless a validator opts in).
 */
export const formats: Readonly<Record<string, (text: string) => boolean>> = Object.freeze({
  date: isDate,
  time: (text) => TIME.test(text),
  'date-time': (text) => /^[Tt ]$/.test(text.charAt(10)) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11)),
  email: (text) => EMAIL.test(text),
  uri: (text) => text.length <= 65_536 && URI.test(text),
  uuid: (text) => UUID.test(text),
  ipv4: (text) => IPV4.test(text),
})

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const [year, month, day] = text.split('-').map(Number) as [number, number, number]
  return day <= new Date(Date.UTC(year === 0 ? 400 : year, month, 0)).getUTCDate()
}
