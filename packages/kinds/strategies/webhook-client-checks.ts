import {
  checkDnsSubdomain,
  fieldInvalid,
  fieldRequired,
  type AdmissionregistrationV1WebhookClientConfig,
} from '@skerry/api'
import { checkNotEmpty, type Found } from './checks.ts'
import type { Loose } from './typed-strategy.ts'

type ClientConfig = Loose<AdmissionregistrationV1WebhookClientConfig>
type ServiceReference = NonNullable<ClientConfig['service']>

/** Checks how to reach an admission or conversion webhook. */
export function checkWebhookClient(config: ClientConfig, path: string, found: Found): void {
  const { url, service } = config
  if ((url === undefined) === (service === undefined)) {
    found.push(fieldRequired(path, 'exactly one of url or service is required'))
  } else if (url !== undefined) {
    checkUrl(url, `${path}.url`, found)
  } else {
    checkService(service ?? {}, `${path}.service`, found)
  }
}

const form = '; desired format: https://host[/path]'
const urlParts =
  /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/

function checkUrl(url: string, field: string, found: Found): void {
  const [, scheme = '', user, host = '', , query = '', fragment = ''] = urlParts.exec(url) ?? []
  if (scheme !== 'https') {
    found.push(fieldInvalid(field, scheme, `'https' is the only allowed URL scheme${form}`))
  }
  if (!host) found.push(fieldInvalid(field, host, `host must be specified${form}`))
  if (user !== undefined) {
    found.push(fieldInvalid(field, user, 'user information is not permitted in the URL'))
  }
  if (fragment) {
    found.push(fieldInvalid(field, fragment, 'fragments are not permitted in the URL'))
  }
  if (query) {
    found.push(fieldInvalid(field, query, 'query parameters are not permitted in the URL'))
  }
}

function checkService(service: ServiceReference, path: string, found: Found): void {
  checkNotEmpty(service.namespace, `${path}.name`, found)
  checkNotEmpty(service.name, `${path}.namespace`, found)
  const { port = 0 } = service
  if (port < 1 || port > 65_535) {
    const detail = 'port is not valid: must be between 1 and 65535, inclusive'
    found.push(fieldInvalid(`${path}.port`, port, detail))
  }
  if (service.path !== undefined) checkUrlPath(service.path, `${path}.path`, found)
}

function checkUrlPath(path: string, field: string, found: Found): void {
  if (path === '' || path === '/') return
  if (path === '//') {
    found.push(fieldInvalid(field, path, 'segment[0] may not be empty'))
    return
  }
  if (!path.startsWith('/')) found.push(fieldInvalid(field, path, "must start with a '/'"))
  const steps = path.slice(1).replace(/\/$/, '').split('/')
  for (const [at, step] of steps.entries()) {
    const texts = step === '' ? [] : checkDnsSubdomain(step)
    if (step === '') found.push(fieldInvalid(field, path, `segment[${at}] may not be empty`))
    for (const text of texts) found.push(fieldInvalid(field, path, `segment[${at}]: ${text}`))
  }
}
