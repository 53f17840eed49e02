import type { AnyObject, APIService, Kind } from '@skerry/api'
import {
  builtinPriorities,
  customPriority,
  type ApiPriority,
} from './api-service-priority-table.ts'

/**
 * `onstart`: created when the server starts, and left to its administrators from then on.
 * `true`: kept in the wanted state as long as its CRD exists.
 */
export type Automanaged = 'onstart' | 'true'

export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged'

export interface WantedApiService {
  readonly name: string
  readonly automanaged: Automanaged
  readonly spec: APIService['spec'] & object
}

export type RegistrationStep =
  | { readonly type: 'create'; readonly object: AnyObject }
  | { readonly type: 'update'; readonly name: string; readonly wanted: WantedApiService }
  | { readonly type: 'delete'; readonly name: string; readonly uid: string }

/** A served group version of a CRD. */
export interface CustomGroupVersion {
  readonly group: string
  readonly version: string
}

/** Returns the APIServices of everything that this server serves itself. */
export function wantedApiServices(
  kinds: readonly Kind[],
  custom: readonly CustomGroupVersion[],
): Map<string, WantedApiService> {
  const wanted = new Map<string, WantedApiService>()
  for (const { group, version, isCustom } of kinds) {
    const name = `${version}.${group}`
    const priority = builtinPriorities[name]
    if (isCustom || !priority || wanted.has(name)) continue
    wanted.set(name, wantedOf({ group, version }, priority, 'onstart'))
  }
  for (const groupVersion of custom) {
    const name = `${groupVersion.version}.${groupVersion.group}`
    if (!wanted.has(name)) wanted.set(name, wantedOf(groupVersion, customPriority, 'true'))
  }
  return wanted
}

/**
 * Plans the steps from the stored APIServices to the wanted ones. An APIService without the label
 * belongs to the administrator who removed it and is never touched. After the start, those of
 * built-in groups are left alone.
 */
export function planRegistration(
  wanted: ReadonlyMap<string, WantedApiService>,
  stored: readonly APIService[],
  isStart: boolean,
): RegistrationStep[] {
  const steps: RegistrationStep[] = []
  const byName = new Map(stored.map((object) => [object.metadata.name ?? '', object]))
  for (const one of wanted.values()) {
    const current = byName.get(one.name)
    const isDue = isStart || one.automanaged === 'true'
    if (!isDue) continue
    if (!current) steps.push({ type: 'create', object: objectOf(one) })
    else if (automanagedOf(current) !== undefined && !isAsWanted(current, one)) {
      steps.push({ type: 'update', name: one.name, wanted: one })
    }
  }
  for (const [name, current] of byName) {
    const automanaged = automanagedOf(current)
    if (automanaged === undefined || wanted.has(name)) continue
    if (automanaged === 'onstart' && !isStart) continue
    steps.push({ type: 'delete', name, uid: current.metadata.uid ?? '' })
  }
  return steps
}

function wantedOf(
  { group, version }: CustomGroupVersion,
  priority: ApiPriority,
  automanaged: Automanaged,
): WantedApiService {
  return {
    name: `${version}.${group}`,
    automanaged,
    spec: {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: priority.group,
      versionPriority: priority.version,
    },
  }
}

function objectOf({ name, automanaged, spec }: WantedApiService): AnyObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name, labels: { [automanagedLabel]: automanaged } },
    spec,
  }
}

function automanagedOf({ metadata }: APIService): Automanaged | undefined {
  const label = metadata.labels?.[automanagedLabel]
  return label === 'onstart' || label === 'true' ? label : undefined
}

function isAsWanted(current: APIService, { spec, automanaged }: WantedApiService): boolean {
  const { group, version, groupPriorityMinimum, versionPriority, service } = current.spec ?? {}
  return (
    automanagedOf(current) === automanaged &&
    service === undefined &&
    (group ?? '') === (spec.group ?? '') &&
    version === spec.version &&
    groupPriorityMinimum === spec.groupPriorityMinimum &&
    versionPriority === spec.versionPriority
  )
}
