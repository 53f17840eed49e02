import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type ClusterTrustBundleProjection,
  type DownwardAPIVolumeFile,
  type KeyToPath,
  type PodCertificateProjection,
  type ProjectedVolumeSource,
  type ServiceAccountTokenProjection,
  type VolumeProjection,
} from '@skerry/api'
import { checkNotEmpty, checkProjectedPath, type Found } from '../../checks.ts'
import { checkLabelSelector } from '../../label-checks.ts'
import type { Loose } from '../../typed-strategy.ts'
import { checkFieldRef, checkResourceFieldRef } from './env.ts'

export function checkFileMode(mode: number | undefined, field: string, found: Found): void {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return
  const detail = 'must be a number between 0 and 0777 (octal), both inclusive'
  found.push(fieldInvalid(field, mode, detail))
}

export function checkKeyToPath(item: Loose<KeyToPath>, path: string, found: Found): void {
  checkNotEmpty(item.key, `${path}.key`, found)
  checkNotEmpty(item.path, `${path}.path`, found)
  checkProjectedPath(item.path ?? '', `${path}.path`, found)
  checkFileMode(item.mode, `${path}.mode`, found)
}

const fieldsForVolumes = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

/** Upstream reports errors of any file at the path of the list's owner. */
export function checkDownwardFile(
  file: Loose<DownwardAPIVolumeFile>,
  path: string,
  found: Found,
): void {
  checkNotEmpty(file.path, `${path}.path`, found)
  checkProjectedPath(file.path ?? '', `${path}.path`, found)
  const { fieldRef, resourceFieldRef } = file
  if (fieldRef) {
    checkFieldRef(fieldRef, fieldsForVolumes, `${path}.fieldRef`, found)
    if (resourceFieldRef) {
      const detail = 'fieldRef and resourceFieldRef can not be specified simultaneously'
      found.push(fieldInvalid(path, 'resource', detail))
    }
  } else if (!resourceFieldRef) {
    found.push(fieldRequired(path, 'one of fieldRef and resourceFieldRef is required'))
  } else if (resourceFieldRef.containerName) {
    checkResourceFieldRef(resourceFieldRef, `${path}.resourceFieldRef`, found)
  } else {
    found.push(fieldRequired(`${path}.resourceFieldRef.containerName`))
  }
  checkFileMode(file.mode, `${path}.mode`, found)
}

export function checkProjectedVolume(
  volume: Loose<ProjectedVolumeSource>,
  path: string,
  found: Found,
): void {
  checkFileMode(volume.defaultMode, `${path}.defaultMode`, found)
  const paths = new PathsInUse(path, found)
  for (const [at, source] of (volume.sources ?? []).entries()) {
    checkSource(source, `${path}.sources[${at}]`, paths, found)
    const count = Object.values(source).filter((value) => value !== undefined).length
    if (count > 1) {
      const detail = 'may not specify more than 1 volume type per source'
      found.push(fieldForbidden(`${path}.sources[${at}]`, detail))
    }
  }
}

/** Two sources must not write the same file. */
class PathsInUse {
  readonly #paths = new Set<string>()
  readonly #field: string
  readonly #found: Found

  constructor(field: string, found: Found) {
    this.#field = field
    this.#found = found
  }

  get field(): string {
    return this.#field
  }

  add(path: string | undefined, shown: string | undefined): void {
    if (!path) return
    if (this.#paths.has(path)) {
      this.#found.push(fieldInvalid(this.#field, shown ?? '', 'conflicting duplicate paths'))
    }
    this.#paths.add(path)
  }
}

function checkSource(
  source: Loose<VolumeProjection>,
  path: string,
  paths: PathsInUse,
  found: Found,
): void {
  for (const name of ['secret', 'configMap'] as const) {
    const named = source[name]
    if (!named) continue
    checkNotEmpty(named.name, `${path}.${name}.name`, found)
    for (const [at, item] of (named.items ?? []).entries()) {
      checkKeyToPath(item, `${path}.${name}.items[${at}]`, found)
      paths.add(item.path, named.name)
    }
  }
  for (const file of source.downwardAPI?.items ?? []) {
    checkDownwardFile(file, `${path}.downwardAPI`, found)
    paths.add(file.path, file.path)
  }
  const { serviceAccountToken, clusterTrustBundle, podCertificate } = source
  if (serviceAccountToken) {
    checkToken(serviceAccountToken, `${path}.serviceAccountToken`, paths.field, found)
  }
  if (clusterTrustBundle) {
    checkTrustBundle(clusterTrustBundle, `${path}.clusterTrustBundle`, found)
    paths.add(clusterTrustBundle.path, clusterTrustBundle.path)
  }
  if (podCertificate) checkCertificate(podCertificate, `${path}.podCertificate`, paths, found)
}

function checkToken(
  token: Loose<ServiceAccountTokenProjection>,
  path: string,
  volumePath: string,
  found: Found,
): void {
  const { expirationSeconds = 0, path: tokenPath = '' } = token
  const field = `${path}.expirationSeconds`
  if (expirationSeconds < 600) {
    const detail = 'may not specify a duration less than 10 minutes'
    found.push(fieldInvalid(field, expirationSeconds, detail))
  }
  if (expirationSeconds > 2 ** 32) {
    const detail = 'may not specify a duration larger than 2^32 seconds'
    found.push(fieldInvalid(field, expirationSeconds, detail))
  }
  if (checkNotEmpty(tokenPath, `${volumePath}.path`, found)) {
    checkProjectedPath(tokenPath, `${volumePath}.path`, found)
  }
}

function checkTrustBundle(
  bundle: Loose<ClusterTrustBundleProjection>,
  path: string,
  found: Found,
): void {
  const { name, signerName, labelSelector } = bundle
  if (name !== undefined && signerName !== undefined) {
    found.push(fieldInvalid(path, bundle, 'only one of name and signerName may be used'))
  } else if (name !== undefined) {
    if (!name) found.push(fieldRequired(`${path}.name`, 'must be a valid object name'))
    if (labelSelector) {
      const detail = 'labelSelector must be unset if name is specified'
      found.push(fieldInvalid(`${path}.labelSelector`, labelSelector, detail))
    }
  } else if (signerName !== undefined) {
    if (!signerName) found.push(fieldRequired(`${path}.signerName`, 'must be a valid signer name'))
    checkLabelSelector(labelSelector, `${path}.labelSelector`, found)
  } else {
    found.push(fieldRequired(path, 'either name or signerName must be specified'))
  }
  checkNotEmpty(bundle.path, `${path}.path`, found)
  checkProjectedPath(bundle.path ?? '', `${path}.path`, found)
}

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']

function checkCertificate(
  certificate: Loose<PodCertificateProjection>,
  path: string,
  paths: PathsInUse,
  found: Found,
): void {
  const { keyType = '', maxExpirationSeconds } = certificate
  if (!keyTypes.includes(keyType)) {
    found.push(fieldNotSupported(`${path}.keyType`, keyType, keyTypes))
  }
  if (maxExpirationSeconds !== undefined && maxExpirationSeconds < 3600) {
    const detail = 'if provided, maxExpirationSeconds must be >= 3600'
    found.push(fieldInvalid(`${path}.maxExpirationSeconds`, maxExpirationSeconds, detail))
  }
  const names = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const
  for (const name of names) {
    const value = certificate[name]
    if (!value) continue
    checkProjectedPath(value, `${path}.${name}`, found)
    paths.add(value, value)
  }
  if (names.some((name) => certificate[name])) return
  const detail = 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'
  found.push(fieldRequired(path, detail))
}
