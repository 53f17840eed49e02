/** A pod of a Deployment that answers over HTTP; it is enough to see that it goes on. */
export const echoManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: echo, namespace: default }
spec:
  replicas: 1
  selector: { matchLabels: { app: echo } }
  template:
    metadata: { labels: { app: echo } }
    spec:
      containers:
        - name: echo
          image: skerry-examples/guestbook:v1
          command: [sh, -c, 'exec httpd -f -p 8080 -h /tmp']
`

/** One web server on each node, which answers with the name of its pod. */
export const echoOnEachNode = `
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: echo, namespace: default }
spec:
  selector: { matchLabels: { app: echo } }
  template:
    metadata: { labels: { app: echo } }
    spec:
      containers:
        - name: echo
          image: skerry-examples/guestbook:v1
          command: [sh, -c, 'mkdir /tmp/www && hostname > /tmp/www/name && exec httpd -f -p 8080 -h /tmp/www']
          readinessProbe: { httpGet: { path: /name, port: 8080 }, periodSeconds: 1 }
`
