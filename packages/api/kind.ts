import type { AnyObject, GroupVersionKind } from './object.ts'
import type { SchemaSet } from './schema.ts'
import type { StatusCause } from './status-error.ts'

/**
 * A kind is data: the apiserver's one generic registry serves every record of this shape, built-in
 * or created from a CRD at run time. No code switches on a kind's name.
 */
export interface Kind extends GroupVersionKind {
  /** The plural in lower case; the path segment. */
  readonly resource: string
  readonly singular: string
  readonly listKind: string
  readonly isNamespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /**
   * The verbs that discovery announces and the server allows, e.g. create, delete,
   * deletecollection, get, list, patch, update, watch.
   */
  readonly verbs: readonly string[]
  readonly subresources: readonly Subresource[]
  /** The name of the object's type: `schemas[schemaName]`. */
  readonly schemaName: string
  readonly schemas: SchemaSet
  /** The texts of its own definitions, for kubectl explain. Those of upstream's kinds come from elsewhere. */
  readonly descriptions?: KindTexts
  /** The version in which objects of this group and kind are stored; others convert from and to it. */
  readonly storageVersion: string
  /**
   * Set only if objects are stored under another group: events of events.k8s.io and of the core
   * group are the same objects.
   */
  readonly storageGroup?: string
  /** Announced instead of the hash of the storage version if upstream stores another version. */
  readonly storageVersionHash?: string
  /** True if DELETE answers with the deleted object; other kinds answer with a Status. */
  readonly returnsDeletedObject?: boolean
  /** True for kinds created from a CRD. */
  readonly isCustom?: boolean
  /** Sent as a warning with every answer; set only for versions that should not be used. */
  readonly deprecation?: string
  /**
   * The field selectors that are allowed in addition to metadata.name and metadata.namespace, e.g.
   * spec.nodeName.
   */
  readonly selectableFields: readonly string[]
  readonly columns: readonly Column[]
  readonly strategy: Strategy
}

export interface Subresource {
  /** The name: status, scale, eviction, log, … */
  readonly name: string
  /** The kind of the subresource's bodies and answers, e.g. autoscaling/v1 Scale. */
  readonly kind: GroupVersionKind
  /** The type of its bodies in the kind's schemas. Omitted if there is none, e.g. for exec. */
  readonly schemaName?: string
  readonly verbs: readonly string[]
  /** For scale only: JSON paths with a leading dot. */
  readonly scale?: {
    readonly specReplicasPath: string
    readonly statusReplicasPath: string
    readonly labelSelectorPath?: string
  }
}

/** The descriptions of types and their fields, by the name of the definition. */
export type KindTexts = Readonly<
  Record<
    string,
    { readonly description?: string; readonly fields: Readonly<Record<string, string>> }
  >
>

/** One column of `kubectl get` (metav1.TableColumnDefinition) and the function for its cells. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** 0 means always shown, 1 only with -o wide. */
  readonly priority: number
  /** A pure function. `nowMs` is for ages. Returns the JSON value in `cells`. */
  readonly cell: (object: AnyObject, nowMs: number) => string | number | boolean | null
}

export interface StrategyContext {
  /** Wall clock time, in milliseconds since the Unix epoch. */
  readonly nowMs: number
  readonly newUid: () => string
  /** Reports what is visible only before the object is prepared. Omitted if there is no recipient. */
  readonly warn?: (text: string) => void
  readonly user: string
  /** The user's uid, if any. Only a CertificateSigningRequest stores these fields. */
  readonly userUid?: string
  readonly userGroups?: readonly string[]
  readonly userExtra?: Readonly<Record<string, readonly string[]>>
}

/**
 * The hooks of a kind, all pure. They may change `next` in place, because it is a private copy.
 * Order on create: prepareForCreate, defaults, validate. On update: keep what the verb may not
 * change, prepareForUpdate, defaults, validateUpdate. On status: prepareForStatusUpdate,
 * validateStatusUpdate. Causes carry upstream's reason, message and field.
 */
export interface Strategy {
  /** Loads modules that the hooks need and only some clusters use; awaited before each write. */
  readonly load?: () => Promise<void>
  /** Upstream's SetDefaults_* for this version. Idempotent. Runs on every decode. */
  readonly defaults?: (object: AnyObject) => void
  /** Sets defaults that are the time of the request, whose writer owns them. Idempotent. */
  readonly setTimes?: (object: AnyObject, nowMs: number) => void
  /**
   * Replaces the check against the schema, for kinds whose schema is a CRD's: prunes unknown fields
   * and returns them in upstream's words. Throws StatusError if a type is wrong.
   */
  readonly onDecode?: (object: AnyObject) => string[]
  /** Updates an object that was stored under an older schema, each time it is read. */
  readonly onRead?: (object: AnyObject, storedApiVersion: string) => void
  /** Clears the fields that the client may not set (status, …). */
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
   * Validates the new object of an update alone, for kinds that report these errors before those of
   * changes. `validate` starts with the same errors.
   */
  readonly validateForm?: (next: AnyObject) => StatusCause[]
  readonly validateStatusUpdate?: UpdateValidation
  readonly warnings?: (next: AnyObject, old?: AnyObject) => string[]
  /**
   * Updates by a subresource that is a part of the object (approval, ephemeralcontainers, finalize,
   * resize, …), by its name. Fields that the part may not change were restored before. Without an
   * entry the object is validated as on create.
   */
  readonly parts?: Readonly<Record<string, PartUpdate>>
  /**
   * False for kinds to which upstream gives no generation (ConfigMap, Secret, …). Default: true if
   * the schema has a spec.
   */
  readonly hasGeneration?: boolean
  /** True if a list or map that is newly sent empty increases the generation. */
  readonly countsSentEmpty?: boolean
  /** True if a PUT to a missing name creates, as for Lease and a few others. */
  readonly allowCreateOnUpdate?: boolean
  /** True if an update may omit resourceVersion, as for most kinds. Default: true. */
  readonly allowUnconditionalUpdate?: boolean
  /** Returns the grace period in seconds, given the client's request; 0 deletes at once. Only pods use it. */
  readonly gracefulDeletion?: (object: AnyObject, askedSeconds: number | undefined) => number
  /** The name rule: dns-subdomain (default), dns-label, dns-1035-label, path-segment, config-key. */
  readonly nameRule?: NameRule
  /**
   * The propagation if the client requests nothing else: Background for most kinds, orphan for
   * batch/v1 Job, for historical reasons. A kind with `none` owns nothing, and the client's request
   * is ignored.
   */
  readonly defaultGarbageCollection?: 'orphan' | 'background' | 'none'
}

/**
 * Validates an update. `warn` takes messages for the client that do not refuse the update, or that
 * accompany its refusal.
 */
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
