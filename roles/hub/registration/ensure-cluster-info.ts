import { isStatusError, type AnyObject } from '@skerry/api'
import { clusterInfoConfigMap } from '@skerry/bootstrap'
import type { OpenPlane } from '../../control-plane/plane-part.ts'
import { advertised } from '../../runtime/host-addresses.ts'

const configMaps = Object.freeze({ group: '', resource: 'configmaps' })

/**
 * Publishes the hub's address, so that a token of karmadactl's suffices to find this hub: anyone may read it,
 * and the token proves it. A token created with `--server` replaces that address.
 */
export async function ensureClusterInfo({
  objects,
  pki,
  server,
}: Pick<OpenPlane, 'objects' | 'pki' | 'server'>): Promise<void> {
  const info = {
    server: advertised(server.address),
    authorityPem: pki.authority.certificatePem,
  }
  const { apiVersion, kind, metadata, data } = clusterInfoConfigMap(info, [])
  const { namespace = '', name = '' } = metadata
  if (objects.get(configMaps, namespace, name)) return
  const object: AnyObject = { apiVersion, kind, metadata, data }
  try {
    await objects.create(configMaps, object)
  } catch (error) {
    // Another replica starts at the same time.
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}
