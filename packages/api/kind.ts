import type { AnyObject, GroupVersionKind } from './object.ts'
import type { SchemaSet } from './schema.ts'
import type { StatusCause } from './status-error.ts'

/**
 * A kind is data: the apiserver's one generic registry serves every record of this shape, built-in
 * or made from a CRD at run time. Nothing anywhere switches on a kind's name.
 */
export interface Kind extends GroupVersionKind {
  /** Plural, lower case; the path segment. */
  readonly resource: string
  readonly singular: string
  readonly listKind: string
  readonly isNamespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** What discovery announces and the server allows, e.g. create, delete, deletecollection, get, list, patch, update, watch. */
  readonly verbs: readonly string[]
  readonly subresources: readonly Subresource[]
  /** Where the object's type is found: `schemas[schemaName]`. */
  readonly schemaName: string
  readonly schemas: SchemaSet
  /** The version objects of this group and kind are stored in; others convert from and to it. */
  readonly storageVersion: string
  /**
   * Only where objects are stored under another group: events of events.k8s.io and of the core
   * group are the same objects.
   */
  readonly storageGroup?: string
  /** Announced in place of what follows from the storage version: upstream stores another one. */
  readonly storageVersionHash?: string
  /** True where DELETE answers with the object that was deleted; others answer with a Status. */
  readonly returnsDeletedObject?: boolean
  /** True for kinds made from a CRD. */
  readonly isCustom?: boolean
  /** Sent as a warning with every answer; present only for versions that should not be used. */
  readonly deprecation?: string
  /** Field selectors allowed beside metadata.name and metadata.namespace, e.g. spec.nodeName. */
  readonly selectableFields: readonly string[]
  readonly columns: readonly Column[]
  readonly strategy: Strategy
}

export interface Subresource {
  /** status, scale, eviction, log, … */
  readonly name: string
  /** What the subresource takes and gives, e.g. autoscaling/v1 Scale. */
  readonly kind: GroupVersionKind
  /** The type of its bodies in the kind's schemas; absent where it has none, e.g. exec. */
  readonly schemaName?: string
  readonly verbs: readonly string[]
  /** Only for scale of kinds that have it: JSON paths with a leading dot. */
  readonly scale?: {
    readonly specReplicasPath: string
    readonly statusReplicasPath: string
    readonly labelSelectorPath?: string
  }
}

/** One column of `kubectl get` (metav1.TableColumnDefinition) and how a cell is made. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** 0: always shown; 1: only with -o wide. */
  readonly priority: number
  /** Pure. `nowMs` is for ages. Returns what JSON carries in `cells`. */
  readonly cell: (object: AnyObject, nowMs: number) => string | number | boolean | null
}

export interface StrategyContext {
  /** Wall clock, milliseconds since the Unix epoch. */
  readonly nowMs: number
  readonly newUid: () => string
  /** For what can be seen only before the object is prepared; absent where nobody listens. */
  readonly warn?: (text: string) => void
  readonly user: string
  /** Of the user; absent means none. Only a CertificateSigningRequest keeps them. */
  readonly userUid?: string
  readonly userGroups?: readonly string[]
  readonly userExtra?: Readonly<Record<string, readonly string[]>>
}

/**
 * The hooks of a kind, all pure; they may change `next` in place (it is a private copy).
 * Order on create: prepareForCreate, defaults, validate. On update: keep what the verb may not
 * change, prepareForUpdate, defaults, validateUpdate. On status: prepareForStatusUpdate,
 * validateStatusUpdate. Causes carry upstream's reason, message and field.
 */
export interface Strategy {
  /** Brings in what the hooks need and only some clusters do; awaited before each write. */
  readonly load?: () => Promise<void>
  /** Upstream's SetDefaults_* for this version. Idempotent. Runs on every decode. */
  readonly defaults?: (object: AnyObject) => void
  /** Defaults that are the time of the request, which is its writer's to own. Idempotent. */
  readonly setTimes?: (object: AnyObject, nowMs: number) => void
  /**
   * In place of the check against the schema, for kinds whose schema is a CRD's: prunes unknown
   * fields and returns them in upstream's words. Throws StatusError when a type is wrong.
   */
  readonly onDecode?: (object: AnyObject) => string[]
  /** Brings an object that was stored under an older schema up to date, each time it is read. */
  readonly onRead?: (object: AnyObject, storedApiVersion: string) => void
  /** Clears what the client may not set (status, …). */
  readonly prepareForCreate?: (next: AnyObject, context: StrategyContext) => void
  readonly prepareForUpdate?: (next: AnyObject, old: AnyObject, context: StrategyContext) => void
  readonly prepareForStatusUpdate?: (
    next: AnyObject,
    old: AnyObject,
    context?: StrategyContext,
  ) => void
  readonly validate?: (object: AnyObject) => StatusCause[]
  readonly validateUpdate?: UpdateValidation
  /**
   * Of an update, what is wrong with the new object alone; for kinds where that is told before what has
   * changed. `validate` starts with the same.
   */
  readonly validateForm?: (next: AnyObject) => StatusCause[]
  readonly validateStatusUpdate?: UpdateValidation
  readonly warnings?: (next: AnyObject, old?: AnyObject) => string[]
  /**
   * Updates by a subresource that is a part of the object (approval, ephemeralcontainers, finalize,
   * resize, …), by its name; what the part may not change was put back before. Without an entry
   * the object is validated as on create.
   */
  readonly parts?: Readonly<Record<string, PartUpdate>>
  /** False for kinds that upstream does not give a generation (ConfigMap, Secret, …). Default: true when the schema has a spec. */
  readonly hasGeneration?: boolean
  /** A list or map that is sent empty where there was none is a new generation. */
  readonly countsSentEmpty?: boolean
  /** A create on PUT to a missing name, as Lease and a few others allow. */
  readonly allowCreateOnUpdate?: boolean
  /** An update without resourceVersion, as most kinds allow. Default true. */
  readonly allowUnconditionalUpdate?: boolean
  /** Seconds to set as grace when the client asks none; 0: delete at once. Only pods use it. */
  readonly gracefulDeletion?: (object: AnyObject, askedSeconds: number | undefined) => number
  /** The name rule: dns-subdomain (default), dns-label, dns-1035-label, path-segment, config-key. */
  readonly nameRule?: NameRule
  /**
   * What to do when nobody says: most kinds Background, batch/v1 Job: orphan by history. Of a kind
   * that owns nothing, whatever anybody says: `none`.
   */
  readonly defaultGarbageCollection?: 'orphan' | 'background' | 'none'
}

/** `warn` takes what the client is told though the update goes on, or beside what refuses it. */
export type UpdateValidation = (
  next: AnyObject,
  old: AnyObject,
  warn?: (text: string) => void,
) => StatusCause[]

export interface PartUpdate {
  readonly prepare?: (next: AnyObject, old: AnyObject, context: StrategyContext) => void
  readonly validate: (next: AnyObject, old: AnyObject) => StatusCause[]
}

export type NameRule =
  | 'dns-subdomain'
  | 'dns-label'
  | 'dns-1035-label'
  | 'path-segment'
  | 'config-key'
