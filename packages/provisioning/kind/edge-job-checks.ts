import { isIPv4 } from 'node:net'
import {
  checkDnsLabel,
  checkDnsSubdomain,
  equalJson,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  labelSelectorOf,
  type LabelSelectorFields,
  type StatusCause,
} from '@skerry/api'
import { messageOf } from '@skerry/base'
import { edgeClusterBounds, edgeJobBounds } from '../limits-table.ts'
import { packageCauses } from './package-checks.ts'
import type { EdgeJob, EdgeJobSpec, ImagePull, Upgrade } from './edge-job.ts'
import type { Configuration } from './role-options.ts'

const bounds = edgeJobBounds
const works = ['upgrade', 'configure', 'pullImages'] as const
const logLevels = ['error', 'info', 'debug']
/** A semantic version, perhaps with the digest by which the hub tells programs of one number apart. */
const versionPattern = /^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.+-]{1,80})?$/
const imagePattern =
  /^(?:[a-zA-Z0-9.-]+(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/
/** An entry of feature gates and of the runtime configuration. */
const switchPattern = /^[A-Za-z0-9][A-Za-z0-9./-]{0,200}=(?:true|false)$/

/** Returns everything that is wrong with an EdgeJob, each with its field. Any field may lack. */
export function edgeJobCauses({ metadata, spec }: EdgeJob): StatusCause[] {
  const { name = '' } = metadata
  const causes = checkDnsLabel(name).map((why) => fieldInvalid('metadata.name', name, why))
  if (name.length > edgeClusterBounds.nameCharsMax) {
    const why = `must be no more than ${edgeClusterBounds.nameCharsMax} characters`
    causes.push(fieldInvalid('metadata.name', name, why))
  }
  const asked = works.filter((work) => spec[work] !== undefined)
  if (asked.length !== 1) {
    const why = `exactly one of ${works.join(', ')} must be set`
    causes.push(fieldRequired('spec', why))
  }
  return [
    ...causes,
    ...upgradeCauses(spec.upgrade),
    ...configureCauses(spec.configure),
    ...pullCauses(spec.pullImages),
    ...clusterCauses(spec.clusters),
    ...machineCauses(spec.machines),
    ...amountCauses(spec),
  ]
}

const changeable: ReadonlySet<string> = new Set([
  'machinesAtOnce',
  'clustersAtOnce',
  'failureTolerance',
  'timeoutSeconds',
  'retry',
  'paused',
])

/** A job that changed its purpose in the middle would leave machines of both kinds; amounts may change. */
export function edgeJobChangeCauses(next: EdgeJobSpec, old: EdgeJobSpec): StatusCause[] {
  const [after, before] = [new Map(Object.entries(next)), new Map(Object.entries(old))]
  return [...new Set([...after.keys(), ...before.keys()])]
    .filter((field) => !changeable.has(field) && !equalJson(after.get(field), before.get(field)))
    .map((field) => fieldForbidden(`spec.${field}`, 'may not be changed: make another EdgeJob'))
}

function upgradeCauses(upgrade: Partial<Upgrade> | undefined): StatusCause[] {
  if (upgrade === undefined) return []
  const { version, package: offline, images = [], secretRef } = upgrade
  const causes = imageCauses('spec.upgrade.images', images)
  causes.push(...packageCauses({ package: offline }, 'spec.upgrade.package'))
  if ((version === undefined) === (offline === undefined)) {
    causes.push(fieldRequired('spec.upgrade', 'exactly one of version and package must be set'))
  } else if (version !== undefined && !versionPattern.test(version)) {
    const why = 'must be a version that the hub holds, such as 0.2.0'
    causes.push(fieldInvalid('spec.upgrade.version', version, why))
  }
  return [...causes, ...secretCauses('spec.upgrade.secretRef', secretRef)]
}

function pullCauses(pull: Partial<ImagePull> | undefined): StatusCause[] {
  if (pull === undefined) return []
  const { images = [], secretRef } = pull
  const causes = imageCauses('spec.pullImages.images', images)
  if (images.length === 0) causes.push(fieldRequired('spec.pullImages.images'))
  return [...causes, ...secretCauses('spec.pullImages.secretRef', secretRef)]
}

function imageCauses(field: string, images: readonly string[]): StatusCause[] {
  if (images.length > bounds.imagesMax) {
    return [fieldInvalid(field, images.length, `must be at most ${bounds.imagesMax} images`)]
  }
  return images.flatMap((image, at) => {
    if (image.length <= bounds.imageCharsMax && imagePattern.test(image)) return []
    const why = 'must be the name of an image, such as registry.example/shop/till:1.4'
    return [fieldInvalid(`${field}[${at}]`, image, why)]
  })
}

function secretCauses(field: string, secret: { name?: string } | undefined): StatusCause[] {
  if (secret === undefined) return []
  const { name = '' } = secret
  return checkDnsSubdomain(name).map((why) => fieldInvalid(`${field}.name`, name, why))
}

function configureCauses(configure: Configuration | undefined): StatusCause[] {
  if (configure === undefined) return []
  const { site, node } = configure
  const causes: StatusCause[] = []
  if (site === undefined && node === undefined) {
    causes.push(fieldRequired('spec.configure', 'site or node must be set'))
  }
  for (const [role, choice] of [
    ['site', site],
    ['node', node],
  ] as const) {
    const level = choice?.logLevel
    if (level === undefined || logLevels.includes(level)) continue
    causes.push(fieldNotSupported(`spec.configure.${role}.logLevel`, level, logLevels))
  }
  const addresses = node?.reservedAddresses ?? []
  return [
    ...causes,
    ...listCauses('spec.configure.site.featureGates', site?.featureGates, switchText),
    ...listCauses('spec.configure.site.runtimeConfig', site?.runtimeConfig, switchText),
    ...listCauses('spec.configure.node.reservedAddresses', addresses, (text) =>
      isIPv4(text) ? undefined : 'must be an IPv4 address',
    ),
  ]
}

function switchText(text: string): string | undefined {
  return switchPattern.test(text) ? undefined : 'must be a name with =true or =false'
}

function listCauses(
  field: string,
  list: readonly string[] = [],
  whyNot: (text: string) => string | undefined,
): StatusCause[] {
  if (list.length > bounds.optionsMax) {
    return [fieldInvalid(field, list.length, `must be at most ${bounds.optionsMax} entries`)]
  }
  return list.flatMap((text, at) => {
    const why = whyNot(text)
    return why === undefined ? [] : [fieldInvalid(`${field}[${at}]`, text, why)]
  })
}

function clusterCauses(clusters: EdgeJobSpec['clusters'] | undefined): StatusCause[] {
  const { names, labelSelector } = clusters ?? {}
  if ((names === undefined) === (labelSelector === undefined)) {
    return [fieldRequired('spec.clusters', 'exactly one of names and labelSelector must be set')]
  }
  if (names !== undefined) {
    const { clustersMax } = bounds
    if (names.length === 0) return [fieldRequired('spec.clusters.names')]
    if (names.length > clustersMax) {
      const why = `must be at most ${clustersMax} clusters`
      return [fieldInvalid('spec.clusters.names', names.length, why)]
    }
    return names.flatMap((name, at) =>
      checkDnsLabel(name).map((why) => fieldInvalid(`spec.clusters.names[${at}]`, name, why)),
    )
  }
  return selectorCauses('spec.clusters.labelSelector', labelSelector)
}

function selectorCauses(
  field: string,
  labelSelector: LabelSelectorFields | undefined,
): StatusCause[] {
  try {
    labelSelectorOf(labelSelector)
    return []
  } catch (error) {
    return [fieldInvalid(field, '', messageOf(error))]
  }
}

function machineCauses(machines: EdgeJobSpec['machines']): StatusCause[] {
  const { role, addresses = [], labelSelector } = machines ?? {}
  const causes: StatusCause[] =
    labelSelector === undefined ? [] : selectorCauses('spec.machines.labelSelector', labelSelector)
  if (role !== undefined && !['Master', 'Node'].includes(role)) {
    causes.push(fieldNotSupported('spec.machines.role', role, ['Master', 'Node']))
  }
  if (addresses.length > bounds.namesMax) {
    const why = `must be at most ${bounds.namesMax} addresses`
    return [...causes, fieldInvalid('spec.machines.addresses', addresses.length, why)]
  }
  const odd = addresses.flatMap((address, at) =>
    checkDnsSubdomain(address).map((why) =>
      fieldInvalid(`spec.machines.addresses[${at}]`, address, why),
    ),
  )
  return [...causes, ...odd]
}

function amountCauses(spec: Partial<EdgeJobSpec>): StatusCause[] {
  const { failureTolerance } = spec
  const amounts: readonly (readonly [string, number | undefined, number])[] = [
    ['machinesAtOnce', spec.machinesAtOnce, bounds.machinesAtOnceMax],
    ['clustersAtOnce', spec.clustersAtOnce, bounds.clustersAtOnceMax],
    ['timeoutSeconds', spec.timeoutSeconds, bounds.timeoutSecondsMax],
    ['retry.attempts', spec.retry?.attempts, edgeClusterBounds.attemptsMax],
  ]
  const causes = amounts.flatMap(([field, amount, max]) => {
    if (amount === undefined || (amount >= 1 && amount <= max)) return []
    return [fieldInvalid(`spec.${field}`, amount, `must be from 1 to ${max}`)]
  })
  if (failureTolerance === undefined || isTolerance(failureTolerance)) return causes
  const why = 'must be a number of machines, or a part of all such as 10%'
  return [...causes, fieldInvalid('spec.failureTolerance', failureTolerance, why)]
}

function isTolerance(value: number | string): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0
  return /^(?:100|\d{1,2})%$/.test(value)
}
