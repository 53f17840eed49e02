import { join } from 'node:path'

/** The paths of one `skerry up`, all derived from two directories. */
export interface Installation {
  dataDir: string
  runDir: string
  hubDir: string
  siteDir: string
  nodeDir: string
  /** The file people point KUBECONFIG at: contexts for the hub and for each cluster. */
  kubeconfig: string
  /** The pid and identity of the supervisor; see lock-file.ts. */
  lockFile: string
  logFile: (role: string) => string
  /** The options of this installation, by which a later command finds its ports. */
  settingsFile: string
  formatFile: string
  /** Exists from the first step of a reset to its last. */
  resetMark: string
}

export function installationAt(dataDir: string, runDir: string): Installation {
  return {
    dataDir,
    runDir,
    hubDir: join(dataDir, 'hub'),
    siteDir: join(dataDir, 'site'),
    nodeDir: join(dataDir, 'node'),
    kubeconfig: join(dataDir, 'kubeconfig'),
    lockFile: join(dataDir, 'up.pid'),
    logFile: (role) => join(dataDir, 'log', `${role}.log`),
    settingsFile: join(dataDir, 'settings.json'),
    formatFile: join(dataDir, 'format.json'),
    resetMark: join(dataDir, 'reset-unfinished'),
  }
}

export interface UpSettings {
  clusterName: string
  hubPort: number
  sitePort: number
  kubeletPort: number
  nodeName: string
  clusterCidr: string
  serviceCidr: string
  runDir: string
}
