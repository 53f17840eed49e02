import { checkDnsLabel, checkDnsSubdomain, parseDurationMs } from '@skerry/api'
import { parseLooseCidr, parseLooseIp } from '../addresses/ip.ts'

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

/**
 * One label with at most one hyphen, after its first character, or several labels with a last one
 * of letters.
 */
const hostnamePattern =
  /^(?:[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]{0,62}|(?:[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u

const checks: Readonly<Record<string, (text: string) => boolean>> = Object.freeze({
  datetime: (text) =>
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[-+]\d\d:?\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text.replace(/([-+]\d\d)(\d\d)$/, '$1:$2').replace(' ', 'T'))),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  ipv4: (text) => parseLooseIp(text)?.length === 4,
  ipv6: (text) => parseLooseIp(text)?.length === 16,
  cidr: (text) => parseLooseCidr(text) !== undefined,
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
