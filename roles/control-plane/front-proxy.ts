import { readFile } from 'node:fs/promises'
import { isStatusError, type AnyObject, type GroupResource } from '@skerry/api'
import { requestHeaderDefaults, type Objects, type RequestHeaderOptions } from '@skerry/apiserver'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { ClusterPki } from '@skerry/bootstrap'

/**
 * The values of `--requestheader-*`. If all are omitted, this control plane's own front proxy authority is
 * used.
 */
export interface FrontProxyOptions {
  clientCaFile?: string | undefined
  allowedNames?: readonly string[] | undefined
  usernameHeaders?: readonly string[] | undefined
  uidHeaders?: readonly string[] | undefined
  groupHeaders?: readonly string[] | undefined
  extraHeadersPrefixes?: readonly string[] | undefined
}

export interface FrontProxies {
  readonly authorityPem: string
  readonly requestHeader: RequestHeaderOptions
}

/** Returns whose certificates may name the user for whom they ask, and in which headers. */
export async function frontProxiesOf(
  options: FrontProxyOptions,
  pki: () => ClusterPki,
): Promise<FrontProxies> {
  const given = await givenAuthority(options.clientCaFile)
  const authorityPem = given ?? pki().frontProxyAuthority.certificatePem
  const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase())
  return {
    authorityPem,
    requestHeader: {
      proxyAuthorityPem: () => authorityPem,
      clientAuthorityPem: () => pki().authority.certificatePem,
      allowedNames:
        options.allowedNames ?? (given === undefined ? requestHeaderDefaults.allowedNames : []),
      usernameHeaders: lower(options.usernameHeaders ?? requestHeaderDefaults.usernameHeaders),
      uidHeaders: lower(options.uidHeaders ?? requestHeaderDefaults.uidHeaders),
      groupHeaders: lower(options.groupHeaders ?? requestHeaderDefaults.groupHeaders),
      extraHeaderPrefixes: lower(
        options.extraHeadersPrefixes ?? requestHeaderDefaults.extraHeaderPrefixes,
      ),
    },
  }
}

async function givenAuthority(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ExpectedError(
      `Cannot read --requestheader-client-ca-file ${path}: give a readable PEM file`,
      exitCodes.failure,
      { cause: error },
    )
  }
}

const configMaps: GroupResource = { group: '', resource: 'configmaps' }
const namespace = 'kube-system'
const name = 'extension-apiserver-authentication'

/** Publishes the authorities of this server's users and front proxies for extension API servers. */
export async function publishAuthentication(
  objects: Objects,
  pki: ClusterPki,
  { authorityPem, requestHeader }: FrontProxies,
): Promise<void> {
  const list = (names: readonly string[]): string => JSON.stringify(names)
  const data = {
    'client-ca-file': pki.authority.certificatePem,
    'requestheader-allowed-names': list(requestHeader.allowedNames),
    'requestheader-client-ca-file': authorityPem,
    'requestheader-extra-headers-prefix': list(requestHeader.extraHeaderPrefixes.map(canonical)),
    'requestheader-group-headers': list(requestHeader.groupHeaders.map(canonical)),
    'requestheader-uid-headers': list(requestHeader.uidHeaders.map(canonical)),
    'requestheader-username-headers': list(requestHeader.usernameHeaders.map(canonical)),
  }
  const object: AnyObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
    data,
  }
  if (objects.get(configMaps, namespace, name) === undefined) {
    try {
      await objects.create(configMaps, object)
      return
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
  await objects.update(configMaps, { namespace, name }, (current) => {
    if (JSON.stringify(current['data']) === JSON.stringify(data)) return false
    current['data'] = data
    return true
  })
}

/** Formats `x-remote-user` as `X-Remote-User`, the usual form of headers. */
function canonical(header: string): string {
  return header.replaceAll(/(^|-)([a-z])/g, (_match, dash: string, letter: string) => {
    return `${dash}${letter.toUpperCase()}`
  })
}
