import type { NameRule } from './kind.ts'

/**
 * The name rules of Kubernetes (RFC 1123, RFC 1035, label keys and values, path segments). Each
 * check returns the errors in upstream's words, because clients show them; no errors mean valid. No
 * pattern can backtrack for long, because the length of the input is limited.
 */
const labelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomainFormat = `${labelFormat}(\\.${labelFormat})*`
const dns1035Format = '[a-z]([-a-z0-9]*[a-z0-9])?'
const keyFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const valueFormat = `(${keyFormat})?`
const configKeyFormat = '[-._a-zA-Z0-9]+'

const labelPattern = new RegExp(`^${labelFormat}$`)
const subdomainPattern = new RegExp(`^${subdomainFormat}$`)
const dns1035Pattern = new RegExp(`^${dns1035Format}$`)
const keyPattern = new RegExp(`^${keyFormat}$`)
const configKeyPattern = new RegExp(`^${configKeyFormat}$`)

const lengthsMax = Object.freeze({ label: 63, subdomain: 253, key: 63, value: 63 })

export function checkDnsLabel(value: string): string[] {
  const found = tooLong(value, lengthsMax.label, 'characters')
  if (labelPattern.test(value)) return found
  if (subdomainPattern.test(value)) return [...found, 'must not contain dots']
  const rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
  return [...found, mismatch(rule, labelFormat, ['my-name', '123-abc'])]
}

export function checkDnsSubdomain(value: string): string[] {
  return checkSubdomain(value, 'characters')
}

export function checkDns1035Label(value: string): string[] {
  const found = tooLong(value, lengthsMax.label, 'characters')
  if (dns1035Pattern.test(value)) return found
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
  return [...found, mismatch(rule, dns1035Format, ['my-name', 'abc-123'])]
}

/** Checks label keys, annotation keys, finalizers and taint keys: an optional DNS prefix, a slash, a name. */
export function checkQualifiedName(value: string): string[] {
  const rule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
  const examples = ['MyName', 'my.name', '123-abc']
  const parts = value.split('/')
  if (parts.length > 2) {
    const whole = `a valid label key ${mismatch(rule, keyFormat, examples)}`
    return [`${whole} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const name = parts[parts.length - 1] ?? ''
  const found = parts.length === 2 ? checkPrefix(parts[0] ?? '') : []
  if (name === '') found.push('name part must be non-empty')
  else found.push(...tooLong(name, lengthsMax.key, 'bytes').map((text) => `name part ${text}`))
  if (!keyPattern.test(name)) found.push(`name part ${mismatch(rule, keyFormat, examples)}`)
  return found
}

export function checkLabelValue(value: string): string[] {
  const found = tooLong(value, lengthsMax.value, 'bytes')
  if (value === '' || keyPattern.test(value)) return found
  const rule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
  return [...found, mismatch(rule, valueFormat, ['MyValue', 'my_value', '12345'])]
}

/** Checks that the name can be one segment of a URL path. */
export function checkPathSegment(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`]
  return checkPathSegmentPrefix(value)
}

/** Checks keys of a ConfigMap's or Secret's data, which become file names. */
export function checkConfigKey(value: string): string[] {
  const found = tooLong(value, lengthsMax.subdomain, 'characters')
  if (!configKeyPattern.test(value)) {
    const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    found.push(mismatch(rule, configKeyFormat, ['key.name', 'KEY_NAME', 'key-name']))
  }
  return [...found, ...checkParentDirectory(value)]
}

/** Checks the reason of a metav1.Condition. */
export function checkConditionReason(value: string): string[] {
  if (/^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(value)) return []
  const rule =
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
  const examples = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB']
  return [mismatch(rule, '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?', examples)]
}

export function checkEnvName(value: string): string[] {
  if (value === '') return ['environment variable name must be non-empty']
  if (/^[\x20-\x3c\x3e-\x7e]+$/.test(value)) return []
  return [
    "a valid environment variable name must consist only of printable ASCII characters other than '='",
  ]
}

/** Checks IANA service names, as in container and service ports. */
export function checkPortName(value: string): string[] {
  const found = tooLong(value, 15, 'characters')
  if (!/^[-a-z0-9]+$/.test(value)) {
    found.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(value)) found.push('must contain at least one letter (a-z)')
  if (value.includes('--')) found.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) {
    found.push('must not begin or end with a hyphen')
  }
  return found
}

const checkOfRule: Readonly<Record<NameRule, (value: string) => string[]>> = Object.freeze({
  'dns-subdomain': checkDnsSubdomain,
  'dns-label': checkDnsLabel,
  'dns-1035-label': checkDns1035Label,
  'path-segment': checkPathSegment,
  'config-key': checkConfigKey,
})

/** `isPrefix`: the value is a generateName, to which characters are added. */
export function checkName(value: string, rule: NameRule, isPrefix = false): string[] {
  if (!isPrefix) return checkOfRule[rule](value)
  if (rule === 'path-segment') return checkPathSegmentPrefix(value)
  if (rule === 'config-key') return checkConfigKey(value)
  // A trailing dash is allowed in a prefix; upstream masks it together with the character before.
  const masked = value.length > 1 && value.endsWith('-') ? `${value.slice(0, -2)}a` : value
  return checkOfRule[rule](masked)
}

function checkSubdomain(value: string, unit: 'bytes' | 'characters'): string[] {
  const found = tooLong(value, lengthsMax.subdomain, unit)
  if (subdomainPattern.test(value)) return found
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
  return [...found, mismatch(rule, subdomainFormat, ['example.com'])]
}

function checkPrefix(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  return checkSubdomain(prefix, 'bytes').map((text) => `prefix part ${text}`)
}

function checkPathSegmentPrefix(value: string): string[] {
  return ['/', '%']
    .filter((char) => value.includes(char))
    .map((char) => `may not contain '${char}'`)
}

function checkParentDirectory(value: string): string[] {
  if (value === '.' || value === '..') return [`must not be '${value}'`]
  return value.startsWith('..') ? ["must not start with '..'"] : []
}

const utf8 = new TextEncoder()

/** Returns the length in UTF-8 bytes. Upstream's limits all count bytes, whatever their message says. */
export function byteLength(text: string): number {
  return /^\p{ASCII}*$/u.test(text) ? text.length : utf8.encode(text).length
}

function tooLong(value: string, bytesMax: number, unit: 'bytes' | 'characters'): string[] {
  if (value.length * 3 <= bytesMax || byteLength(value) <= bytesMax) return []
  return [`must be no more than ${bytesMax} ${unit}`]
}

function mismatch(rule: string, format: string, examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ')
  return `${rule} (e.g. ${shown}regex used for validation is '${format}')`
}
