import type { HeaderField } from '../hpack/header-decoder.ts'

/** Fields by name in small letters; pseudo-headers start with a colon. Fields that come again are joined. */
export type RequestFields = Readonly<Record<string, string | undefined>>

/** The judgement of a request's fields. */
export type FieldsVerdict = 'good' | 'tooLarge' | 'malformed'

const pseudoNames: ReadonlySet<string> = new Set([':method', ':scheme', ':path', ':authority'])
/** RFC 9113, section 8.2.2. */
const connectionNames: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

/** Collects the fields of one header block, within bounds, and judges them (RFC 9113, sections 8.2 and 8.3). */
export class FieldCollector {
  readonly #bytesMax: number
  readonly #fieldsMax: number
  #fields: Record<string, string | undefined> = Object.create(null)
  #bytes = 0
  #count = 0
  #hasRegular = false
  #isMalformed = false

  constructor({
    headerBytesMax,
    headerFieldsMax,
  }: {
    headerBytesMax: number
    headerFieldsMax: number
  }) {
    this.#bytesMax = headerBytesMax
    this.#fieldsMax = headerFieldsMax
  }

  readonly add = (field: HeaderField): void => {
    this.#count += 1
    this.#bytes += field.bytes
    if (this.#isTooLarge) return
    const { name, value } = field
    const isPseudo = name.charCodeAt(0) === colon
    const known = this.#fields[name]
    if (!field.isValid) this.#isMalformed = true
    else if (isPseudo) {
      if (this.#hasRegular || known !== undefined || !pseudoNames.has(name))
        this.#isMalformed = true
    } else {
      this.#hasRegular = true
      if (connectionNames.has(name) || (name === 'te' && value !== 'trailers')) {
        this.#isMalformed = true
      }
    }
    if (known === undefined) this.#fields[name] = value
    else this.#fields[name] = `${known}${name === 'cookie' ? '; ' : ', '}${value}`
  }

  get #isTooLarge(): boolean {
    return this.#bytes > this.#bytesMax || this.#count > this.#fieldsMax
  }

  /** Returns the fields of a request, and starts again. */
  takeRequest(): { verdict: FieldsVerdict; fields: RequestFields } {
    const fields = this.#fields
    const isComplete =
      fields[':method'] !== undefined &&
      (fields[':method'] === 'CONNECT'
        ? fields[':authority'] !== undefined
        : fields[':scheme'] !== undefined && Boolean(fields[':path']))
    return { verdict: this.#verdict(isComplete), fields: this.#begin() }
  }

  /** Judges trailers, which have no pseudo-headers (RFC 9113, section 8.1), and starts again. */
  takeTrailers(): FieldsVerdict {
    const verdict = this.#verdict(Object.keys(this.#fields).every((name) => !name.startsWith(':')))
    this.#begin()
    return verdict
  }

  #verdict(isComplete: boolean): FieldsVerdict {
    if (this.#isTooLarge) return 'tooLarge'
    return this.#isMalformed || !isComplete ? 'malformed' : 'good'
  }

  #begin(): RequestFields {
    const fields = this.#fields
    this.#fields = Object.create(null)
    this.#bytes = 0
    this.#count = 0
    this.#hasRegular = false
    this.#isMalformed = false
    return fields
  }
}

const colon = 0x3a
