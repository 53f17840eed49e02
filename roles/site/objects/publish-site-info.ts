import { StatusError, type GroupResource } from '@skerry/api'
import { goOnPastUnreadable, type Objects } from '@skerry/apiserver'
import { asError, isDiskFull, type Logger } from '@skerry/base'
import { siteInfoKey, type SiteInfo } from '../../admin/site-info.ts'
import { putObject } from './put-object.ts'

const configMaps: GroupResource = { group: '', resource: 'configmaps' }

/** Publishes the facts for commands that print how a machine joins. A site without space for them starts all the same. */
export async function publishSiteInfo(
  objects: Objects,
  info: SiteInfo,
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const data = { ...info, nodeMaskSize: String(info.nodeMaskSize) }
  const wanted = { apiVersion: 'v1', kind: 'ConfigMap', metadata: siteInfoKey, data }
  try {
    await goOnPastUnreadable(log, () => putObject(objects, configMaps, wanted))
  } catch (error) {
    if (!(error instanceof StatusError) && !isDiskFull(error)) throw error
    log.error('Facts for new nodes were not published', { error: asError(error) })
  }
}
