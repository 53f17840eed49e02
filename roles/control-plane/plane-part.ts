import type { Kind } from '@skerry/api'
import type {
  ApiRequest,
  ApiServerOptions,
  AuditSink,
  BackendDial,
  ConfiguredUsers,
  ExtraAccess,
  LoadedServer,
  LocalApi,
  Objects,
  Route,
  Serving,
} from '@skerry/apiserver'
import type { Task } from '@skerry/base'
import type { ClusterPki, TimeFloor } from '@skerry/bootstrap'
import type { BackgroundController, ControllerDefinition } from '@skerry/controller-runtime'
import type { RoleContext } from '../runtime/role-context.ts'
import type { ControlPlaneStore } from './open-store.ts'

/** A control plane whose store, keys and objects are open. Its port opens later; only then is its address known. */
export interface OpenPlane {
  readonly server: LoadedServer
  readonly objects: Objects
  readonly store: ControlPlaneStore
  readonly pki: ClusterPki
  /** The same after renewals: certificates change while the role runs, and the authority stays. */
  readonly presentPki: () => ClusterPki
  /** The time for certificates that this control plane signs. */
  readonly time: TimeFloor
  /** The OpenID Connect issuers whose tokens it accepts now. */
  readonly issuers: ConfiguredUsers['issuers']
  /** Dials nodes and pods; undefined on a hub, which has none. */
  readonly dial: BackendDial | undefined
  readonly context: RoleContext
}

/**
 * One subject of a control plane: everything that it adds, in one file. A role is a list of parts, in their order:
 * the first route, plugin or authorizer that fits is asked first.
 */
export interface PlanePart<Plane extends OpenPlane = OpenPlane> {
  /** Names and addresses that clients use, for the serving certificate. */
  readonly sans?: readonly string[]
  /** The message of a ComponentStatus for components that do not run in this process. */
  readonly componentFaults?: NonNullable<ApiServerOptions['health']>['componentFaults']
  /** Further checks of /readyz, /livez and /healthz, by name. */
  readonly healthChecks?: NonNullable<ApiServerOptions['health']>['checks']
  /** Kinds that the control plane serves in addition to the built-in ones. */
  kinds?(builtin: readonly Kind[]): Promise<readonly Kind[]> | readonly Kind[]
  routes?(plane: Plane): readonly Route[]
  access?(plane: Plane): ExtraAccess
  /** Group versions that are served here and not stored. */
  localApis?(plane: Plane): readonly LocalApi[]
  /** Returns a sink that gets a record of each request. */
  audit?(plane: Plane): AuditSink
  /** Returns the target that a request means; called before anything is decided. */
  readonly retarget?: NonNullable<Serving['retarget']>
  /** Called each time controllers start: on a hub with replicas, whenever this one becomes the leader. */
  controllers?(plane: Plane): readonly (ControllerDefinition | BackgroundController)[]
  /**
   * Called when the port is open; the role is not ready before it resolves. Returns the work that continues until
   * the role stops.
   */
  tasks?(plane: Plane): Promise<readonly Task[]> | readonly Task[]
  /**
   * Called once, before any other question about the plane, for a part whose answers share something. Its answers
   * take the place of the part's own.
   */
  open?(plane: Plane): OpenedPart<Plane>
}

/** The answers of a part that has made what they share. */
export type OpenedPart<Plane extends OpenPlane> = Pick<
  PlanePart<Plane>,
  'routes' | 'access' | 'localApis' | 'audit' | 'tasks'
>

/** Everything that a role adds to a control plane. */
export interface PlaneRole<Plane extends OpenPlane = OpenPlane> {
  readonly parts: readonly PlanePart<Plane>[]
  /** Called once; adds everything that several parts of the role share. */
  open(this: void, plane: OpenPlane): Plane
}

/** The answers of the parts, in addition to the resources of the control plane. */
export interface PartsServing extends Omit<Serving, 'access'> {
  readonly access: readonly ExtraAccess[]
}

export async function kindsOf(
  parts: readonly Pick<PlanePart<never>, 'kinds'>[],
  builtin: readonly Kind[],
): Promise<Kind[]> {
  const kinds = [...builtin]
  for (const part of parts) kinds.push(...((await part.kinds?.(builtin)) ?? []))
  return kinds
}

/** Opens each part that shares something among its answers; called once for a plane. */
export function openParts<Plane extends OpenPlane>(
  parts: readonly PlanePart<Plane>[],
  plane: Plane,
): PlanePart<Plane>[] {
  return parts.map((part) => ({ ...part, ...part.open?.(plane) }))
}

/** Returns the answers of the parts, which are open. */
export function servingOf<Plane extends OpenPlane>(
  parts: readonly PlanePart<Plane>[],
  plane: Plane,
): PartsServing {
  const retargets = parts.flatMap(({ retarget }) => retarget ?? [])
  const sinks = parts.flatMap((part) => part.audit?.(plane) ?? [])
  return {
    routes: parts.flatMap((part) => part.routes?.(plane) ?? []),
    access: parts.flatMap((part) => part.access?.(plane) ?? []),
    localApis: parts.flatMap((part) => part.localApis?.(plane) ?? []),
    ...(sinks.length > 0 ? { audit: (record) => sinks.forEach((sink) => sink(record)) } : {}),
    ...(retargets.length > 0 ? { retarget: (request) => retargeted(request, retargets) } : {}),
  }
}

function retargeted(
  request: ApiRequest,
  retargets: readonly ((request: ApiRequest) => string)[],
): string {
  let known = request
  for (const retarget of retargets) {
    const target = retarget(known)
    if (target !== known.target) known = { ...known, target }
  }
  return known.target
}

/** Asks one part after the other: a part may rely on objects that those before it have made. */
export async function tasksOf<Plane extends OpenPlane>(
  parts: readonly PlanePart<Plane>[],
  plane: Plane,
): Promise<Task[]> {
  const tasks: Task[] = []
  for (const part of parts) tasks.push(...((await part.tasks?.(plane)) ?? []))
  return tasks
}
