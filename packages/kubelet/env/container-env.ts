import type {
  ConfigMap,
  Container,
  EnvVar,
  EphemeralContainer,
  Pod,
  Secret,
  Service,
} from '@skerry/api'
import type { ApiPlace } from '../kubelet-config.ts'
import { StartError } from '../pod/start-error.ts'
import { findContainer, specOf } from '../pod/pod-spec.ts'
import { containerResource, type NodeAllocatable } from './container-resource.ts'
import { expand } from './expand.ts'
import { podField, type PodFieldContext } from './pod-field.ts'
import { serviceEnv } from './service-env.ts'

export interface EnvContext extends PodFieldContext {
  configMap(name: string): ConfigMap | undefined
  secret(name: string): Secret | undefined
  /** The services of the pod's namespace and of the default one. */
  services: readonly Service[]
  /** Where pods reach the API. If omitted, at the service kubernetes. */
  api?: ApiPlace | undefined
  allocatable: NodeAllocatable
}

/**
 * Returns the container's environment: envFrom, then env, then the service variables that neither sets.
 * Throws StartError CreateContainerConfigError if a required source is missing.
 */
export function containerEnv(
  container: Container | EphemeralContainer,
  context: EnvContext,
): Map<string, string> {
  const spec = specOf(context.pod)
  const services = serviceEnv(context.services, {
    namespace: context.pod.metadata.namespace ?? '',
    areLinksEnabled: spec.enableServiceLinks !== false,
    api: context.api,
  })
  const result = new Map<string, string>()
  for (const source of container.envFrom ?? []) {
    for (const [key, value] of envFromEntries(source, context)) {
      result.set(`${source.prefix ?? ''}${key}`, value)
    }
  }
  for (const variable of container.env ?? []) {
    const lookup = (name: string): string | undefined => result.get(name) ?? services.get(name)
    const value = valueOf(variable, container, { context, lookup })
    if (value !== undefined) result.set(variable.name, value)
  }
  for (const [name, value] of services) if (!result.has(name)) result.set(name, value)
  return result
}

type EnvFrom = NonNullable<Container['envFrom']>[number]

function envFromEntries(source: EnvFrom, context: EnvContext): [string, string][] {
  if (source.configMapRef) {
    const { name = '', optional } = source.configMapRef
    const configMap = context.configMap(name)
    if (!configMap && !optional) throw configError(`configmap "${name}" not found`)
    return Object.entries(configMap?.data ?? {})
  }
  if (source.secretRef) {
    const { name = '', optional } = source.secretRef
    const secret = context.secret(name)
    if (!secret && !optional) throw configError(`secret "${name}" not found`)
    return Object.entries(secret?.data ?? {}).map(([key, value]) => [key, fromBase64(value)])
  }
  return []
}

interface ValueContext {
  context: EnvContext
  lookup: (name: string) => string | undefined
}

/** Returns undefined if the variable is not set at all, because an optional source is missing. */
function valueOf(
  variable: EnvVar,
  container: Container | EphemeralContainer,
  { context, lookup }: ValueContext,
): string | undefined {
  const from = variable.valueFrom
  if (!from) return expand(variable.value ?? '', lookup)
  if (from.fieldRef) {
    const value = podField(from.fieldRef.fieldPath, context)
    if (value !== undefined) return value
    throw configError(`unsupported fieldPath: ${from.fieldRef.fieldPath}`)
  }
  if (from.resourceFieldRef) return resourceValue(from.resourceFieldRef, container, context)
  if (from.configMapKeyRef) return configMapValue(from.configMapKeyRef, context)
  if (from.secretKeyRef) return secretValue(from.secretKeyRef, context)
  throw configError(`environment variable "${variable.name}" has a source this node cannot read`)
}

function resourceValue(
  selector: NonNullable<NonNullable<EnvVar['valueFrom']>['resourceFieldRef']>,
  container: Container | EphemeralContainer,
  context: EnvContext,
): string {
  const name = selector.containerName
  const target = name ? findContainer(context.pod, name)?.container : container
  if (!target) throw configError(`container ${name} not found`)
  const value = containerResource(selector, target, context.allocatable)
  if (value === undefined) {
    throw configError(`unsupported container resource : ${selector.resource}`)
  }
  return value
}

function configMapValue(
  ref: NonNullable<NonNullable<EnvVar['valueFrom']>['configMapKeyRef']>,
  context: EnvContext,
): string | undefined {
  const { name = '', key, optional } = ref
  const configMap = context.configMap(name)
  if (!configMap) {
    if (optional) return undefined
    throw configError(`configmap "${name}" not found`)
  }
  const value = configMap.data?.[key]
  if (value === undefined && !optional) throw missingKey(key, 'ConfigMap', context.pod, name)
  return value
}

function secretValue(
  ref: NonNullable<NonNullable<EnvVar['valueFrom']>['secretKeyRef']>,
  context: EnvContext,
): string | undefined {
  const { name = '', key, optional } = ref
  const secret = context.secret(name)
  if (!secret) {
    if (optional) return undefined
    throw configError(`secret "${name}" not found`)
  }
  const value = secret.data?.[key]
  if (value === undefined && !optional) throw missingKey(key, 'Secret', context.pod, name)
  return value === undefined ? undefined : fromBase64(value)
}

function missingKey(key: string, kind: string, pod: Pod, name: string): StartError {
  return configError(`couldn't find key ${key} in ${kind} ${pod.metadata.namespace}/${name}`)
}

function configError(message: string): StartError {
  return new StartError('CreateContainerConfigError', message)
}

function fromBase64(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8')
}
