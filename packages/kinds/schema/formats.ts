import { checkDnsLabel, checkDnsSubdomain, parseDurationMs } from '@skerry/api'

/**
 * Checks the string formats that upstream checks; unknown formats are not checked. Patterns are
 * linear: no repetition contains another over the same characters.
 */
export function matchesFormat(format: string, text: string): boolean {
  return checks[plainName(format)]?.(text) ?? true
}

export function isKnownFormat(format: string): boolean {
  return Object.hasOwn(checks, plainName(format))
}

/** Hyphens in the name of a format are ignored. */
function plainName(format: string): string {
  return format.replaceAll('-', '')
}

const ipv4Part = '(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])'
const ipv4Pattern = new RegExp(`^${ipv4Part}(?:\\.${ipv4Part}){3}$`)
/**
 * One label with at most one hyphen, after its first character, or several labels with a last one
 * of letters.
 */
const hostnamePattern =
  /^(?:[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]{0,62}|(?:[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u
const hexGroup = /^[0-9a-fA-F]{1,4}$/

const checks: Readonly<Record<string, (text: string) => boolean>> = Object.freeze({
  datetime: (text) =>
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[-+]\d\d:?\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text.replace(/([-+]\d\d)(\d\d)$/, '$1:$2').replace(' ', 'T'))),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  ipv4: isIpv4,
  ipv6: isIpv6,
  cidr: isCidr,
  email: (text) => /^[^\s@<>()[\],;:"]+@[^\s@<>()[\],;:"]+$/.test(text),
  hostname: (text) =>
    text.length <= 255 &&
    hostnamePattern.test(text) &&
    text.split('.').every((label) => label.length <= 63),
  uuid: (text) => isUuid(text, '[0-9a-f]'),
  uuid3: (text) => isUuid(text, '3'),
  uuid4: (text) => isUuid(text, '4', '[89ab]'),
  uuid5: (text) => isUuid(text, '5', '[89ab]'),
  byte: (text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0,
  duration: (text) => parseDurationMs(text) !== undefined || isLongDuration(text),
  uri: (text) => /^[a-zA-Z][-+.a-zA-Z0-9]*:[^\s]*$/.test(text) || /^\/[^\s]*$/.test(text),
  mac: (text) => /^[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}){4}$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) => /^rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)$/.test(text),
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  password: () => true,
  creditcard: (text) => /^(?:\d[ -]?){13,19}$/.test(text),
  k8sshortname: (text) => checkDnsLabel(text).length === 0,
  k8slongname: (text) => checkDnsSubdomain(text).length === 0,
})

function isUuid(text: string, version: string, variant = '[0-9a-f]'): boolean {
  const plain = `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`
  return new RegExp(plain, 'i').test(text)
}

function isIpv4(text: string): boolean {
  return ipv4Pattern.test(text)
}

/** Accepts at most one `::`; the last two groups may be an IPv4 address. */
function isIpv6(text: string): boolean {
  const halves = text.split('::')
  if (halves.length > 2 || !text.includes(':')) return false
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  const last = groups.at(-1) ?? ''
  const isMapped = last.includes('.')
  if (isMapped && !isIpv4(last)) return false
  const hex = isMapped ? groups.slice(0, -1) : groups
  const count = hex.length + (isMapped ? 2 : 0)
  return (
    hex.every((group) => hexGroup.test(group)) && (halves.length === 2 ? count < 8 : count === 8)
  )
}

function isCidr(text: string): boolean {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text)
  if (!match) return false
  const [, address = '', bits = ''] = match
  return isIpv4(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128
}

/** Words that upstream's format also accepts: `3 days`, `2 weeks`. */
function isLongDuration(text: string): boolean {
  return /^\d+(?:\.\d+)? *(?:ns|nano|us|µs|micro|ms|milli|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|w|wk|week|weeks)$/.test(
    text,
  )
}

function isIsbn10(text: string): boolean {
  return /^\d{9}[\dXx]$/.test(text.replaceAll(/[- ]/g, ''))
}

function isIsbn13(text: string): boolean {
  return /^\d{13}$/.test(text.replaceAll(/[- ]/g, ''))
}
