import type { Kind } from '@skerry/api'
import {
  createDefaultAccess,
  issuerRoutes,
  serviceAddressDefaults,
  type ApiServerOptions,
  type DefaultAccessOptions,
  type Serving,
  type TlsFiles,
} from '@skerry/apiserver'
import { clientKeyAnnotation, type ClusterPki } from '@skerry/bootstrap'
import { spkiHash } from '@skerry/pki'
import { servedVersion } from '../runtime/version.ts'
import type { AccessFiles } from './access-files.ts'
import type { Renewal } from './certificate-upkeep.ts'
import type { ControlPlaneOptions } from './control-plane-options.ts'
import type { FrontProxies } from './front-proxy.ts'
import {
  openParts,
  servingOf,
  type OpenPlane,
  type PlanePart,
  type PlaneRole,
} from './plane-part.ts'

export interface ServerParts {
  readonly base: Omit<OpenPlane, 'server' | 'objects'>
  readonly renewal: Renewal
  readonly frontProxies: FrontProxies
  readonly files: AccessFiles
}

/** The `iss` of service account tokens: upstream's in-cluster name, so that tokens verify anywhere. */
const tokenIssuer = 'https://kubernetes.default.svc.cluster.local'

/** A role with all kinds that it serves. */
export interface ServedRole<Plane extends OpenPlane> extends PlaneRole<Plane> {
  readonly kinds: readonly Kind[]
}

/** The serving of a control plane's API server, with the plane that its parts were asked with, and these parts. */
export interface ServingPlane<Plane extends OpenPlane> extends Serving {
  readonly plane: Plane
  readonly parts: readonly PlanePart<Plane>[]
}

/** Returns the options of a control plane's API server, from the plane's own options, files and parts. */
export function serverOptions<Plane extends OpenPlane>(
  options: ControlPlaneOptions,
  { parts, kinds, open }: ServedRole<Plane>,
  { base, renewal, frontProxies, files }: ServerParts,
): ApiServerOptions<ServingPlane<Plane>> {
  const { pki, dial, context } = base
  const { bindAddress, port, proxies } = options.listening
  const serviceAccounts = { issuer: tokenIssuer, signingKeyPem: pki.serviceAccountKeyPem }
  const usual = { ...usualAccess({ base, frontProxies, files }), serviceAccounts }
  return {
    kinds,
    listening: { tls: tlsOf(pki, frontProxies), address: bindAddress, port, proxies },
    serving(server) {
      const { objects } = server
      const plane = open({ ...base, server, objects })
      const opened = openParts(parts, plane)
      const { access: extra, routes = [], ...more } = servingOf(opened, plane)
      return {
        ...more,
        plane,
        parts: opened,
        access: createDefaultAccess({ ...usual, extra }, context)(objects),
        routes: [...routes, ...issuerRoutes(serviceAccounts, `${tokenIssuer}/openid/v1/jwks`)],
      }
    },
    health: {
      checks: Object.assign(
        {},
        ...parts.map((part) => part.healthChecks),
        files.checkKeyPlugins && { 'kms-providers': files.checkKeyPlugins },
      ),
      componentFaults: Object.assign({}, ...parts.map((part) => part.componentFaults)),
    },
    ...(options.nodes ? { services: servicesOf(options.nodes.serviceCidr) } : {}),
    aggregation: {
      identity: () => renewal.current.frontProxyClient,
      ...(dial === undefined ? {} : { dial }),
    },
    version: { gitVersion: servedVersion },
    accessCheckMs: options.access?.checkMs,
    records: {
      auditTrail: files.auditTrail,
      ...(context.tracer
        ? { tracing: { tracer: context.tracer, trusts: options.trustsTraceOf } }
        : {}),
    },
    hasFlowControl: true,
  }
}

export function tlsOf(pki: ClusterPki, { authorityPem }: FrontProxies): TlsFiles {
  return {
    cert: pki.serving.certificatePem,
    key: pki.serving.privateKeyPem,
    clientCa: [pki.authority.certificatePem, authorityPem],
  }
}

function usualAccess({
  base: { dial, pki },
  frontProxies: { requestHeader },
  files: { configuredUsers, tokenFile, webhooks, enabledPlugins },
}: Omit<ServerParts, 'renewal'>): Omit<DefaultAccessOptions, 'serviceAccounts'> {
  const { tokenWebhook, configuredAuthorizers } = webhooks ?? {}
  return {
    requestHeader,
    enabledPlugins,
    ...(configuredUsers === undefined ? {} : { configuredUsers }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(tokenWebhook === undefined ? {} : { tokenWebhook }),
    ...(configuredAuthorizers === undefined ? {} : { configuredAuthorizers }),
    ...(dial === undefined ? {} : { dial, nodeTokens: nodeTokensOf(pki) }),
  }
}

/** A node that was removed has no object, and one that was made again under its name has another key. */
function nodeTokensOf({ authority }: ClusterPki): NonNullable<DefaultAccessOptions['nodeTokens']> {
  return {
    authorityPem: authority.certificatePem,
    isKeyOf: ({ metadata }, certificatePem) =>
      metadata.annotations?.[clientKeyAnnotation] === spkiHash(certificatePem),
  }
}

function servicesOf(serviceCidr: string): ApiServerOptions['services'] {
  return { ...serviceAddressDefaults, clusterIpRanges: [serviceCidr] }
}
