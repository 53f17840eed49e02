import { respliceResourceVersion, spliceResourceVersion } from '@skerry/bodies'
import type { AnyObject } from '@skerry/api'

const utf8 = new TextDecoder()

/** One revision of one object: the bytes that go on the wire, and what was parsed of them on demand. */
export class CachedObject {
  /** `namespace/name`, or `name` for cluster-scoped kinds. */
  readonly key: string
  readonly revision: number
  readonly createRevision: number
  /** Canonical JSON with metadata.resourceVersion, which a dry run's result lacks. Never changed. */
  readonly bytes: Uint8Array
  /** For selectors; kept instead of the whole object. */
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

  /** The same state, as of a later revision. */
  at(revision: number): CachedObject {
    const { key, createRevision } = this
    const moved = new CachedObject(key, { value: this.bytes, revision: 0, createRevision })
    return Object.assign(moved, {
      revision,
      bytes: respliceResourceVersion(this.bytes, this.revision, revision),
      facts: this.facts,
    })
  }

  /** Parsed once, frozen and kept: for the server's own readers, whose sets are small. */
  get object(): AnyObject {
    this.#object ??= deepFreeze(this.parse())
    return this.#object
  }

  /** For one that is history: whoever asks for its object from now on has it parsed again. */
  forgetObject(): void {
    this.#object = undefined
  }

  /** A private copy. */
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

/** What label and field selectors look at, as one kind sees it. */
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
