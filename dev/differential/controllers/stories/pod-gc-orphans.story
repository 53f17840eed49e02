# Pods on a node that is gone.
Show: pods, events
Quiet: 1s

### two pods, one has ended
create
  kind: Pod
  metadata: {name: lives, labels: {app: a}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: gone-node
    containers: [{name: main, image: "a:1"}]
create
  kind: Pod
  metadata: {name: done, labels: {app: a}}
  spec:
    tolerations: [{operator: Exists}]
    nodeName: gone-node
    containers: [{name: main, image: "a:1"}]
run lives
succeed done

### nobody has such a node
wait pods length = 0
