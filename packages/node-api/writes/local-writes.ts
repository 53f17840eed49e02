import { StatusError, isJsonObject, type AnyObject, type GroupVersionResource } from '@skerry/api'
import type { ReadPath } from '@skerry/apiserver'
import type { Clock } from '@skerry/base'
import { encodeCanonical } from '@skerry/bodies'
import type { Write, WriteResult } from '@skerry/store'
import type { CopiedResource } from '../copies/copied-resource.ts'
import type { CopyFile } from '../copies/copy-file.ts'
import type { CopySet } from '../copies/copy-set.ts'
import type { Winner } from '../kinds/offline-writes.ts'
import type { Link } from '../link/link.ts'
import type { AppliedConfiguration, JournaledWrite, WriteVerb, Writer } from './journaled-write.ts'
import { isTooLarge } from './plan-replay.ts'
import type { WriteJournal } from './write-journal.ts'
import { marksAnnotation, pendingAnnotation, withAnnotation } from './write-marks.ts'

export interface LocalWritesDeps {
  readonly journal: WriteJournal
  readonly copies: CopySet
  readonly file: CopyFile
  readonly readPath: ReadPath
  readonly link: Pick<Link, 'isUp'>
  readonly nodeName: string
  readonly clock: Clock
  /** Called when the journal has got a write. */
  readonly onWrite: () => void
}

/** One request that writes, as far as the journal keeps it. */
export interface LocalWriteRequest {
  readonly verb: WriteVerb
  readonly resource: GroupVersionResource
  readonly namespace: string
  readonly writer: Writer
  readonly fieldManager: string
  readonly winner: Winner
  /** Returns the configuration of an apply; its body has been read by now. */
  readonly applied: () => AppliedConfiguration | undefined
}

/** Takes writes while the control plane is away: into the journal first, and then into the copies that readers see. */
export class LocalWrites {
  readonly #deps: LocalWritesDeps

  /** Shows the writes of the journal in the copies again, which a power cut may have set back. */
  constructor(deps: LocalWritesDeps) {
    this.#deps = deps
    const last = new Map<string, JournaledWrite>()
    for (let entry = deps.journal.next(0); entry; entry = deps.journal.next(entry.seq)) {
      if (entry.write) last.set(entry.object, entry.write)
    }
    for (const write of last.values()) this.#restore(write)
  }

  /** True while requests of the resource are answered here, even if the control plane answers. */
  holds(resource: GroupVersionResource): boolean {
    return this.#deps.journal.holds(resource) || this.#deps.copies.isAhead(resource)
  }

  /** True while the control plane has all writes of the resource, and readers do not see its state yet. */
  isCatchingUp(resource: GroupVersionResource): boolean {
    const { journal, copies, link } = this.#deps
    return link.isUp && !journal.holds(resource) && copies.isAhead(resource)
  }

  /** Returns a copy that a write can begin with. */
  home(resource: GroupVersionResource, namespace: string): CopiedResource | undefined {
    return this.#deps.copies.whole(resource, namespace).find(({ copy }) => copy !== undefined)
  }

  /** Writes as a store does. Throws StatusError if the journal is full. */
  write(request: LocalWriteRequest, home: CopiedResource, asked: Write): WriteResult {
    const { journal, file, copies, clock, onWrite } = this.#deps
    const { resource, namespace } = request
    const key = this.#objectKey(resource, asked.key)
    const current = file.object(home.id, key)
    const { expectRevision = current?.revision ?? 0 } = asked
    if (expectRevision !== (current?.revision ?? 0)) {
      return { isApplied: false, revision: home.revision }
    }
    const whole = copies.whole(resource, namespace)
    const revision = Math.max(...whole.map((copy) => copy.revision)) + 1
    const base = current && objectOf(current.value, current.revision)
    const next = asked.value && objectOf(asked.value)
    if (next && isTooLarge(next)) {
      throw new StatusError(
        'RequestEntityTooLarge',
        'Cannot keep the write on this node: the object is too large',
      )
    }
    const applied = request.verb === 'apply' ? request.applied() : undefined
    journal.append({
      ...request.writer,
      verb: request.verb,
      resource,
      namespace,
      name: (next ?? base)?.metadata.name ?? '',
      fieldManager: request.fieldManager,
      winner: request.winner,
      atMs: clock.now(),
      revision,
      base,
      edge: edgeOf(request.verb, base, next),
      ...(applied ? { applied } : {}),
      ...(request.verb === 'delete' ? policyOf(next) : {}),
    })
    const uid = (next ?? base)?.metadata.uid ?? ''
    this.#show({ resource, namespace, key, uid, revision, next }, whole)
    for (const copy of copies.partial(resource, namespace)) copy.endWatches()
    onWrite()
    return { isApplied: true, revision }
  }

  #objectKey(resource: GroupVersionResource, key: string): string {
    return key.slice(this.#deps.readPath.keyOf(resource, '').length)
  }

  #show({ key, uid, revision, next }: Shown, copies: readonly CopiedResource[]): void {
    const { nodeName } = this.#deps
    const value = next && bytesOf(withAnnotation(next, pendingAnnotation, nodeName))
    const event = value
      ? { type: 'put' as const, key, uid, revision, value }
      : { type: 'delete' as const, key, uid, revision, value: nothing }
    for (const copy of copies) copy.change(event)
  }

  #restore({ resource, namespace, name, edge, revision, base, verb }: JournaledWrite): void {
    const { copies, file } = this.#deps
    const key = namespace === '' ? name : `${namespace}/${name}`
    const uid = (edge ?? base)?.metadata.uid ?? ''
    for (const copy of copies.whole(resource, namespace)) {
      const known = file.object(copy.id, key)
      const isShown = verb === 'delete' ? known === undefined : known?.revision === revision
      if (isShown && copy.isAhead) continue
      const at = Math.max(copy.revision + 1, revision)
      this.#show({ resource, namespace, key, uid, revision: at, next: edge }, [copy])
    }
  }
}

interface Shown {
  readonly resource: GroupVersionResource
  readonly namespace: string
  readonly key: string
  readonly uid: string
  readonly revision: number
  /** Undefined if the object is deleted. */
  readonly next: AnyObject | undefined
}

const nothing = new Uint8Array(0)
const utf8 = new TextEncoder()
const text = new TextDecoder()

function bytesOf(object: AnyObject): Uint8Array {
  return utf8.encode(encodeCanonical(object))
}

/** Reads what the copy or the registry has encoded; readers of this node see one more annotation. */
function objectOf(value: Uint8Array, revision?: number): AnyObject {
  const parsed: unknown = JSON.parse(text.decode(value))
  if (!isJsonObject(parsed) || !isJsonObject(parsed['metadata'])) {
    throw new TypeError('Cannot read a copied object: it has no metadata')
  }
  // Canonical bytes of an object have its type and metadata.
  const object = withAnnotation(parsed as unknown as AnyObject, pendingAnnotation, undefined)
  if (revision === undefined) return object
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
}

/** Returns the object that the writer wants. */
function edgeOf(
  verb: WriteVerb,
  base: AnyObject | undefined,
  next: AnyObject | undefined,
): AnyObject | undefined {
  if (verb === 'delete') return undefined
  if (next)
    return withAnnotation(next, marksAnnotation, base?.metadata.annotations?.[marksAnnotation])
  // The update took the last finalizer of an object that waited for its end.
  return base && { ...base, metadata: { ...base.metadata, finalizers: [] } }
}

/** The registry has turned the policy into a finalizer, if the object waits for its end. */
function policyOf(next: AnyObject | undefined): Pick<JournaledWrite, 'propagationPolicy'> {
  const finalizers = next?.metadata.finalizers ?? []
  if (finalizers.includes('orphan')) return { propagationPolicy: 'Orphan' }
  if (finalizers.includes('foregroundDeletion')) return { propagationPolicy: 'Foreground' }
  return {}
}
