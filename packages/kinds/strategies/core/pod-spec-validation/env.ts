import {
  checkConfigKey,
  checkDnsSubdomain,
  checkEnvName,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type EnvFromSource,
  type EnvVar,
  type EnvVarSource,
  type FileKeySelector,
  type ObjectFieldSelector,
  type ResourceFieldSelector,
} from '@skerry/api'
import {
  addInvalid,
  checkLabelField,
  checkNoParentSteps,
  checkNotEmpty,
  checkQualifiedField,
  type Found,
} from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'

export function checkEnv(variables: readonly Loose<EnvVar>[], field: string, found: Found): void {
  for (const [at, variable] of variables.entries()) {
    const path = `${field}[${at}]`
    const { name = '' } = variable
    if (checkNotEmpty(name, `${path}.name`, found)) {
      addInvalid(found, `${path}.name`, name, checkEnvName(name))
    }
    if (variable.valueFrom) checkSource(variable, `${path}.valueFrom`, found)
  }
}

const fieldsForEnv = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]

function checkSource(variable: Loose<EnvVar>, field: string, found: Found): void {
  const source: Loose<EnvVarSource> = variable.valueFrom ?? {}
  if (source.fieldRef) checkFieldRef(source.fieldRef, fieldsForEnv, `${field}.fieldRef`, found)
  if (source.resourceFieldRef) {
    checkResourceFieldRef(source.resourceFieldRef, `${field}.resourceFieldRef`, found)
  }
  for (const name of ['configMapKeyRef', 'secretKeyRef'] as const) {
    const reference = source[name]
    if (reference) checkKeyRef(reference, `${field}.${name}`, found)
  }
  if (source.fileKeyRef) checkFileKeyRef(source.fileKeyRef, `${field}.fileKeyRef`, found)
  const count = Object.values(source).filter((value) => value !== undefined).length
  if (count === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    found.push(fieldInvalid(field, '', detail))
  } else if (variable.value) {
    found.push(fieldInvalid(field, '', 'may not be specified when `value` is not empty'))
  } else if (count > 1) {
    found.push(fieldInvalid(field, '', 'may not have more than one field specified at a time'))
  }
}

const downwardFields = new Set([
  ...fieldsForEnv,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])
const subscripted = /^(.*)\['(.*)'\]$/

/** `allowed` lists the paths of fields that may be referred to here, in upstream's order. */
export function checkFieldRef(
  reference: Loose<ObjectFieldSelector>,
  allowed: readonly string[],
  field: string,
  found: Found,
): void {
  if (!checkNotEmpty(reference.apiVersion, `${field}.apiVersion`, found)) return
  const { fieldPath = '', apiVersion } = reference
  if (!checkNotEmpty(fieldPath, `${field}.fieldPath`, found)) return
  const [, base, key] = subscripted.exec(fieldPath) ?? []
  if (apiVersion !== 'v1') {
    const text = `error converting fieldPath: unsupported pod version: ${apiVersion}`
    found.push(fieldInvalid(`${field}.fieldPath`, fieldPath, text))
  } else if (base === undefined || key === undefined) {
    checkWholeField(fieldPath, allowed, `${field}.fieldPath`, found)
  } else if (base === 'metadata.annotations') {
    checkQualifiedField(key.toLowerCase(), field, found)
  } else if (base === 'metadata.labels') {
    checkQualifiedField(key, field, found)
  } else {
    const text = `error converting fieldPath: field label does not support subscript: ${fieldPath}`
    found.push(fieldInvalid(`${field}.fieldPath`, fieldPath, text))
  }
}

function checkWholeField(
  fieldPath: string,
  allowed: readonly string[],
  field: string,
  found: Found,
): void {
  if (!downwardFields.has(fieldPath)) {
    const text = `error converting fieldPath: field label not supported: ${fieldPath}`
    found.push(fieldInvalid(field, fieldPath, text))
  } else if (!allowed.includes(fieldPath)) {
    found.push(fieldNotSupported(field, fieldPath, allowed))
  }
}

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const hugePagesField = /^(limits|requests)\.hugepages-/
const byteDivisors = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei'

export function checkResourceFieldRef(
  reference: Loose<ResourceFieldSelector>,
  field: string,
  found: Found,
): void {
  const { resource = '' } = reference
  if (checkNotEmpty(resource, `${field}.resource`, found)) {
    if (!resourceFields.includes(resource) && !hugePagesField.test(resource)) {
      found.push(fieldNotSupported(`${field}.resource`, resource, resourceFields))
    }
  }
  checkDivisor(resource, reference.divisor ?? '0', `${field}.divisor`, found)
}

function checkDivisor(resource: string, divisor: string, field: string, found: Found): void {
  if (divisor === '0') return
  const [, name = ''] = resource.split('.')
  if (name === 'cpu') {
    if (divisor === '1m' || divisor === '1') return
    const detail = "only divisor's values 1m and 1 are supported with the cpu resource"
    found.push(fieldInvalid(field, resource, detail))
    return
  }
  const words: Readonly<Record<string, string>> = {
    memory: 'memory',
    'ephemeral-storage': 'local ephemeral storage',
  }
  const word = hugePagesField.test(resource) ? 'hugepages' : words[name]
  if (word === undefined || byteDivisors.split(', ').includes(divisor)) return
  const detail = `only divisor's values ${byteDivisors} are supported with the ${word} resource`
  found.push(fieldInvalid(field, resource, detail))
}

function checkKeyRef(
  reference: { name?: string; key?: string },
  field: string,
  found: Found,
): void {
  const { name = '', key = '' } = reference
  addInvalid(found, `${field}.name`, name, checkDnsSubdomain(name))
  if (checkNotEmpty(key, `${field}.key`, found)) {
    addInvalid(found, `${field}.key`, key, checkConfigKey(key))
  }
}

function checkFileKeyRef(reference: Loose<FileKeySelector>, field: string, found: Found): void {
  const { key = '', volumeName = '', path = '' } = reference
  if (checkNotEmpty(key, `${field}.key`, found)) {
    addInvalid(found, `${field}.key`, key, checkEnvName(key))
  }
  if (checkNotEmpty(volumeName, `${field}.volumeName`, found)) {
    checkLabelField(volumeName, `${field}.volumeName`, found)
  }
  if (checkNotEmpty(path, `${field}.path`, found)) {
    checkNoParentSteps(path, `${field}.path`, found)
  }
}

export function checkEnvFrom(
  sources: readonly Loose<EnvFromSource>[],
  field: string,
  found: Found,
): void {
  for (const [at, source] of sources.entries()) {
    const path = `${field}[${at}]`
    if (source.prefix) {
      addInvalid(found, `${path}.prefix`, source.prefix, checkEnvName(source.prefix))
    }
    let count = 0
    for (const name of ['configMapRef', 'secretRef'] as const) {
      const reference = source[name]
      if (!reference) continue
      count += 1
      if (!reference.name) found.push(fieldRequired(`${path}.${name}.name`))
      else
        addInvalid(found, `${path}.${name}.name`, reference.name, checkDnsSubdomain(reference.name))
    }
    const detail =
      count === 0
        ? 'must specify one of: `configMapRef` or `secretRef`'
        : 'may not have more than one field specified at a time'
    if (count !== 1) found.push(fieldInvalid(field, '', detail))
  }
}
