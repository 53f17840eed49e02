import {
  checkDns1035Label,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  quoteGo,
  type APIService,
  type StatusCause,
} from '@skerry/api'
import { decodedLength } from '../base64.ts'
import { addInvalid, checkNotEmpty, checkSubdomainField, type Found } from '../checks.ts'
import type { LooseObject } from '../typed-strategy.ts'

export function validateApiService(apiService: LooseObject<APIService>): StatusCause[] {
  const found: Found = []
  const { group = '', version = '', service } = apiService.spec ?? {}
  const name = `${version}.${group}`
  if (apiService.metadata.name && apiService.metadata.name !== name) {
    const detail = `must be \`spec.version+"."+spec.group\`: ${quoteGo(name)}`
    found.push(fieldInvalid('metadata.name', apiService.metadata.name ?? '', detail))
  }
  if (!group && version !== 'v1') {
    const detail = 'only v1 may have an empty group and it better be legacy kube'
    found.push(fieldRequired('spec.group', detail))
  }
  if (group) checkSubdomainField(group, 'spec.group', found)
  addInvalid(found, 'spec.version', version, checkDns1035Label(version))
  checkPriorities(apiService, found)
  if (service) checkRemote(apiService, found)
  else checkLocal(apiService, found)
  return found
}

function checkPriorities(apiService: LooseObject<APIService>, found: Found): void {
  const { groupPriorityMinimum = 0, versionPriority = 0 } = apiService.spec ?? {}
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20_000) {
    const detail = 'must be positive and less than 20000'
    found.push(fieldInvalid('spec.groupPriorityMinimum', groupPriorityMinimum, detail))
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    const detail = 'must be positive and less than 1000'
    found.push(fieldInvalid('spec.versionPriority', versionPriority, detail))
  }
}

/** This very server serves it, so there is nothing to verify. */
function checkLocal(apiService: LooseObject<APIService>, found: Found): void {
  const { caBundle = '', insecureSkipTLSVerify } = apiService.spec ?? {}
  if (caBundle) {
    const detail = 'local APIServices may not have a caBundle'
    found.push(fieldInvalid('spec.caBundle', `${decodedLength(caBundle)} bytes`, detail))
  }
  if (insecureSkipTLSVerify) {
    const detail = 'local APIServices may not have insecureSkipTLSVerify'
    found.push(fieldInvalid('spec.insecureSkipTLSVerify', true, detail))
  }
}

function checkRemote(apiService: LooseObject<APIService>, found: Found): void {
  const { service = {}, caBundle, insecureSkipTLSVerify } = apiService.spec ?? {}
  checkNotEmpty(service.namespace, 'spec.service.namespace', found)
  checkNotEmpty(service.name, 'spec.service.name', found)
  const { port = 0 } = service
  if (port < 1 || port > 65_535) {
    const detail = 'port is not valid: must be between 1 and 65535, inclusive'
    found.push(fieldInvalid('spec.service.port', port, detail))
  }
  if (insecureSkipTLSVerify && caBundle) {
    const detail = 'may not be true if caBundle is present'
    found.push(fieldInvalid('spec.insecureSkipTLSVerify', true, detail))
  }
}

export function validateApiServiceStatus(apiService: LooseObject<APIService>): StatusCause[] {
  const found: Found = []
  const statuses = ['True', 'False', 'Unknown']
  for (const [at, { status = '' }] of (apiService.status?.conditions ?? []).entries()) {
    if (statuses.includes(status)) continue
    found.push(fieldNotSupported(`status.conditions[${at}].status`, status, statuses))
  }
  return found
}
