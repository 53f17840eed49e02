import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { askJson } from './hub-request.ts'

/** Facts that the hub tells every user about itself. */
export interface HubInfo {
  readonly version: string
  readonly server: string
  /** PEM. */
  readonly certificateAuthority: string
  readonly certificates: { readonly authority: string; readonly serving: string }
  readonly replica: string | null
}

export function useHubInfo(): UseQueryResult<HubInfo> {
  return useQuery({
    queryKey: ['hub'],
    queryFn: ({ signal }) => askJson<HubInfo>('/hub/v1/hub', { signal }),
  })
}
