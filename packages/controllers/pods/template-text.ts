import type { PodTemplateSpec } from '@skerry/api'
import { quantityText } from './quantity-text.ts'
import { templateLayout } from './template-layout-table.ts'

/**
 * Returns the text that upstream hashes: the template's Go fields, in the format of the spew
 * library (`%#v`, sorted keys, no methods). An empty list or map is nil, as after upstream's wire
 * format.
 */
export function templateText(template: PodTemplateSpec): string {
  return `(v1.PodTemplateSpec)${textOf('v1.PodTemplateSpec', template)}`
}

type Fields = Readonly<Record<string, unknown>>

/** Types whose fields differ from those of their JSON. */
const opaque: Readonly<Record<string, (value: unknown) => string>> = {
  // Templates never set a time, and null from a server is the zero time.
  'v1.Time': () => '{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}',
  'resource.Quantity': (value) => quantityText(scalarText(value)),
  'intstr.IntOrString': (value) =>
    typeof value === 'string'
      ? `{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)${value}}`
      : `{Type:(intstr.Type)0 IntVal:(int32)${scalarText(value) || '0'} StrVal:(string)}`,
}

/** Returns the value without its type. */
function textOf(type: string, value: unknown): string {
  if (type.startsWith('*')) return textOf(type.slice(1), value)
  if (type.startsWith('[]')) return listText(type.slice(2), value)
  if (type.startsWith('map[')) return mapText(type.slice(type.indexOf(']') + 1), value)
  const opaqueText = opaque[type]
  if (opaqueText) return opaqueText(value)
  const layout = templateLayout[type]
  if (typeof layout === 'string') return textOf(layout, value)
  if (layout) return structText(layout, isFields(value) ? value : {})
  if (type === 'bool') return value === true ? 'true' : 'false'
  return scalarText(value) || (type === 'string' ? '' : '0')
}

function structText(layout: readonly string[], fields: Fields): string {
  const texts = layout.map((field) => {
    const [name = '', type = '', json = ''] = field.split(' ')
    const value = json === '' ? fields : fields[json]
    const isNil = type.startsWith('*') && (value === undefined || value === null)
    return `${name}:(${type})${isNil ? '<nil>' : textOf(type, value)}`
  })
  return `{${texts.join(' ')}}`
}

function listText(type: string, value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return '<nil>'
  return `[${value.map((item) => textOf(type, item)).join(' ')}]`
}

function mapText(type: string, value: unknown): string {
  const entries = Object.entries(isFields(value) ? value : {})
  if (entries.length === 0) return '<nil>'
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `map[${sorted.map(([key, field]) => `${key}:${textOf(type, field)}`).join(' ')}]`
}

function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
