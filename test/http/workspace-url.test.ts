// URLs that name their workspace.
import t, { type Test } from 'tap'
import { baseOf, withoutWorkspace, workspaceIn } from '../../src/http/workspace-url.ts'

function check(t: Test, url: string, workspace: string | null, rest: string) {
  t.equal(workspaceIn(url), workspace, url)
  t.equal(withoutWorkspace(url), rest, url)
  t.equal(baseOf(url), workspace === null ? '' : `/w/${workspace}`, url)
}

t.test('finds the workspace before the path of a route, and only there', async t => {
  check(t, '/w/acme/edit', 'acme', '/edit')
  check(t, '/w/acme', 'acme', '/')
  check(t, '/w/acme/', 'acme', '/')
  check(t, '/w/acme?x=1', 'acme', '/?x=1')
  check(t, '/w/acme/tools/edit_file?x', 'acme', '/tools/edit_file?x')
  check(t, '/w/a%2Fb/edit', 'a%2Fb', '/edit')
  check(t, '/w/../edit', '..', '/edit')
  check(t, '/w/a/w/b/edit', 'a', '/w/b/edit')
  for (const url of ['/edit', '/w', '/w/', '/w//edit', '/W/acme/edit', '/tools/w/acme', '/']) check(t, url, null, url)
})
