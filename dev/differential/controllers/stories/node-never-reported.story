# A node that never says anything is unknown after a minute.
Show: nodes, events
Quiet: 1s

### a minute passes
create
  kind: Node
  metadata: {name: silent-a, labels: {story: silent}}
wait nodes/silent-a status.conditions.Ready.status = Unknown
