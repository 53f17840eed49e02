import { useMay, type Action } from '../data/hub/rights.ts'
import { useTexts } from '../words/language.ts'
import { partTexts } from './texts.ts'

interface AllowedProps {
  /** Undefined for actions at the hub itself. */
  readonly cluster?: string | undefined
  readonly action: Action
  /** Says what is missing to a user who may not do it. If omitted, nothing is shown in place of the contents. */
  readonly isExplained?: boolean
  /** Shows the contents also while nobody can say, because the cluster is away. */
  readonly isLenient?: boolean
  readonly children: React.ReactNode
}

/** Shows buttons and forms to the users who may do what they are for. */
export function Allowed(props: AllowedProps) {
  const { cluster, action, isExplained = false, isLenient = false, children } = props
  const texts = useTexts(partTexts)
  const may = useMay(cluster, action)
  if (may === true || (may === undefined && isLenient)) return children
  if (may === undefined || !isExplained) return undefined
  const { group, resource } = action.object
  const name = group === '' ? resource : `${resource}.${group}`
  const subresource = action.subresource === undefined ? '' : `/${action.subresource}`
  return <p className="muted">{texts.mayNot(action.verb, `${name}${subresource}`)}</p>
}
