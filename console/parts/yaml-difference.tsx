/** The difference of two texts of YAML. It is loaded when somebody has checked an edit: it is large. */
import { useEffect, useRef } from 'react'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { yamlView } from './yaml-view.ts'

interface YamlDifferenceProps {
  readonly label: string
  readonly before: string
  readonly after: string
}

export function YamlDifference({ label, before, after }: YamlDifferenceProps) {
  const room = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = room.current
    if (parent === null) return
    const difference = [
      unifiedMergeView({
        original: before,
        mergeControls: false,
        collapseUnchanged: { margin: 3, minSize: 6 },
      }),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    ]
    const view = yamlView(parent, after, difference)
    return () => view.destroy()
  }, [label, before, after])
  return <div className="editor" ref={room} />
}
