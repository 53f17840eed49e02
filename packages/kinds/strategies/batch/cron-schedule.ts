interface CronField {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const days = 'sun mon tue wed thu fri sat'.split(' ')
const cronFields: readonly CronField[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]
const descriptors = [
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]
const every = '@every '

/** Returns the error of a schedule, in the words of upstream's parser. */
export function scheduleError(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S*\s*/, '')
  if (text.startsWith('@')) return descriptorError(text)
  const parts = text.split(/\s+/).filter((part) => part !== '')
  if (parts.length !== cronFields.length) {
    const shown = parts.join(' ')
    return `expected exactly ${cronFields.length} fields, found ${parts.length}: [${shown}]`
  }
  for (const [at, field] of cronFields.entries()) {
    const items = (parts[at] ?? '').split(',').filter((item) => item !== '')
    for (const item of items) {
      const error = rangeError(item, field)
      if (error) return error
    }
  }
  return undefined
}

const duration = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$|^[-+]?0$/

function descriptorError(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`
  const value = text.slice(every.length)
  if (duration.test(value)) return undefined
  return `failed to parse duration ${text}: time: invalid duration "${value}"`
}

function rangeError(expression: string, field: CronField): string | undefined {
  const [range = '', stepText, ...tooMany] = expression.split('/')
  const bounds = rangeBounds(range, stepText !== undefined, field)
  if (typeof bounds === 'string') return bounds
  if (tooMany.length > 0) return `too many slashes: ${expression}`
  const step = stepText === undefined ? 1 : parseNumber(stepText)
  if (typeof step === 'string') return step
  const { start, end } = bounds
  if (start < field.min) {
    return `beginning of range (${start}) below minimum (${field.min}): ${expression}`
  }
  if (end > field.max) return `end of range (${end}) above maximum (${field.max}): ${expression}`
  if (start > end) {
    return `beginning of range (${start}) beyond end of range (${end}): ${expression}`
  }
  if (step === 0) return `step of range should be a positive number: ${expression}`
  return undefined
}

function rangeBounds(
  range: string,
  hasStep: boolean,
  field: CronField,
): { start: number; end: number } | string {
  const [low = '', high, ...tooMany] = range.split('-')
  if (low === '*' || low === '?') return { start: field.min, end: field.max }
  const start = parseValue(low, field)
  if (typeof start === 'string') return start
  if (high === undefined) return { start, end: hasStep ? field.max : start }
  if (tooMany.length > 0) return `too many hyphens: ${range}`
  const end = parseValue(high, field)
  return typeof end === 'string' ? end : { start, end }
}

function parseValue(text: string, field: CronField): number | string {
  const at = field.names?.indexOf(text.toLowerCase()) ?? -1
  return at >= 0 ? at + field.min : parseNumber(text)
}

/** Returns the number, or its error. */
function parseNumber(text: string): number | string {
  if (/^\+?\d+$/.test(text)) return Number(text)
  if (/^-\d+$/.test(text)) return `negative number (${Number(text)}) not allowed: ${text}`
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
}
