import { respliceResourceVersion, spliceResourceVersion } from '@skerry/bodies'
import type { AnyObject } from '@skerry/api'

const utf8 = new TextDecoder()

/** Holds one revision of one object: its bytes for the wire, and the parts that were parsed on demand. */
export class CachedObject {
  /** `namespace/name`, or `name` for cluster-scoped kinds. */
  readonly key: string
  readonly revision: number
  readonly createRevision: number
  /** Canonical JSON with metadata.resourceVersion, which a dry run's result lacks. Never modified. */
  readonly bytes: Uint8Array
  /** The facts for selectors, kept instead of the whole object. */
  facts: SelectionFacts | undefined
  #object: AnyObject | undefined

  constructor(
    key: string,
    stored: { value: Uint8Array; revision: number; createRevision: number },
  ) {
    this.key = key
    this.revision = stored.revision
    this.createRevision = stored.createRevision
    const { value, revision } = stored
    this.bytes = revision === 0 ? value : spliceResourceVersion(value, revision)
  }

  /** Returns the same state at a later revision. */
  at(revision: number): CachedObject {
    const { key, createRevision } = this
    const moved = new CachedObject(key, { value: this.bytes, revision: 0, createRevision })
    return Object.assign(moved, {
      revision,
      bytes: respliceResourceVersion(this.bytes, this.revision, revision),
      facts: this.facts,
    })
  }

  /** Parsed once, frozen and kept, for the server's own readers, which read few objects. */
  get object(): AnyObject {
    this.#object ??= deepFreeze(this.parse())
    return this.#object
  }

  /** Drops the parsed object of a historical revision. A later read parses it again. */
  forgetObject(): void {
    this.#object = undefined
  }

  /** Returns a private copy. */
  parse(): AnyObject {
    // The registry only stores objects.
    return JSON.parse(utf8.decode(this.bytes)) as AnyObject
  }

  get namespace(): string {
    const at = this.key.indexOf('/')
    return at < 0 ? '' : this.key.slice(0, at)
  }

  get name(): string {
    return this.key.slice(this.key.indexOf('/') + 1)
  }
}

/** The labels and fields that selectors read, as one kind sees them. */
export interface SelectionFacts {
  readonly owner: object
  readonly labels: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string>>
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const child of Object.values(value)) deepFreeze(child)
  return Object.freeze(value)
}
