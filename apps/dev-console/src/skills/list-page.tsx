import { Badge } from '@mantine/core';
import { contract } from '@review/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useRefusal } from '../session/access.ts';
import { ActionButton } from '../ui/action-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Page } from '../ui/page.tsx';
import rows from '../ui/rows.module.css';
import { Time } from '../ui/time.tsx';
import { skillsQuery } from './queries.ts';
import { SkillForm } from './skill-form.tsx';

const route = getRouteApi('/console/skills');

export function SkillsPage() {
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const refusal = useRefusal();
  const unreadable = refusal(contract.skills.list);
  const uncreatable = refusal(contract.skills.create);
  const query = useInfiniteQuery({ ...skillsQuery, enabled: unreadable === null });
  const form = (open: boolean) => void navigate({ search: open ? { create: true } : {}, replace: true });
  const newSkill = (
    <ActionButton refusal={uncreatable} leftSection={<Icon name="plus" size={16} />} onClick={() => form(true)}>
      New skill
    </ActionButton>
  );
  return (
    <Page
      title="Skills"
      description="Instructions in Markdown that agents of this workspace can load, published in versions."
      actions={newSkill}
    >
      <Loaded query={query} refusal={unreadable}>
        {(skills) =>
          skills.length === 0 ? (
            <EmptyState icon="book" title="No skills yet" action={newSkill}>
              A skill tells an agent how your team does something: how reviews are written, what a storyboard must hold.
              Describe when to use it, then publish its first version.
            </EmptyState>
          ) : (
            <>
              <ul className={rows.rows} aria-label="Skills">
                {skills.map((skill) => (
                  <li key={skill.id} className={rows.row}>
                    <Icon name="book" />
                    <div className={rows.main}>
                      <Link to="/skills/$skillId" params={{ skillId: skill.id }} className={rows.name}>
                        {skill.name}
                      </Link>
                      <div className={rows.detail}>
                        <Time at={skill.updatedAt} /> · {skill.description}
                      </div>
                    </div>
                    {skill.default === null && (
                      <Badge variant="default" tt="none" fw={550} radius="sm">
                        nothing published
                      </Badge>
                    )}
                  </li>
                ))}
              </ul>
              <MoreButton query={query}>Show older skills</MoreButton>
            </>
          )
        }
      </Loaded>
      {create && uncreatable === null && (
        <SkillForm
          onDone={(skillId) => void navigate({ to: '/skills/$skillId', params: { skillId }, search: { write: true } })}
          onClose={() => form(false)}
        />
      )}
    </Page>
  );
}
